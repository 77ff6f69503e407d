-- Names the receiver, so that one whose lease ran out cannot end what another has begun.
alter table upload_sessions add column lease_id text collate "C";
