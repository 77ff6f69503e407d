# Ships something every second, until it is asked to stop.
use strict;
use warnings;
use IO::Socket::INET;

my $stopping = 0;
$SIG{TERM} = sub { $stopping = 1 };
$SIG{PIPE} = 'IGNORE';
while (!$stopping) {
    my $db = IO::Socket::INET->new(PeerAddr => 'db', PeerPort => 6379, Timeout => 5);
    print $db "*2\r\n\$4\r\nINCR\r\n\$7\r\nshipped\r\n" if $db;
    # The database answers one after the other.
    close $db if $db;
    sleep 1;
}
