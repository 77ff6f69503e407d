# Brings the database to the newest schema, and ends.
use strict;
use warnings;
use IO::Socket::INET;

my $db = IO::Socket::INET->new(PeerAddr => 'db', PeerPort => 6379, Timeout => 5) or die "Cannot connect: $!\n";
print $db "*3\r\n\$3\r\nSET\r\n\$6\r\nschema\r\n\$1\r\n1\r\n";
die "The database did not take it\n" unless (<$db> // '') =~ /^:1/;
