-- What this installation is told apart by on an engine that others use too; made by the first process that asks.
create table installation (
  only_one boolean primary key default true check (only_one),
  id text not null
);
