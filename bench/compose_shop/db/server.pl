# Keeps values under names, asked as Redis is: SET, GET and INCR. Every change is appended to a journal in the volume.
use strict;
use warnings;
use IO::Socket::INET;

my %values;
my $path = '/data/journal';
if (open my $journal, '<', $path) {
    while (my $line = <$journal>) { $values{$1} = $2 if $line =~ /^(\S+) (.*)$/ }
}
open my $journal, '>>', $path or die "Cannot write to $path: $!\n";
$journal->autoflush(1);
my $server = IO::Socket::INET->new(LocalPort => 6379, Listen => 128, ReuseAddr => 1) or die "Cannot listen: $!\n";
my $stopping = 0;
$SIG{TERM} = sub { $stopping = 1 };
$SIG{PIPE} = 'IGNORE';
$| = 1;
print "db listens on 6379\n";

while (!$stopping) {
    my $caller = $server->accept or next;
    while (defined(my $answer = answer($caller))) { print $caller $answer }
    close $caller;
}

sub answer {
    my ($caller) = @_;
    my ($count) = (<$caller> // return) =~ /^\*(\d+)/ or return;
    my ($verb, $name, $value) = map { word($caller) // return } 1 .. $count;
    if ($verb eq 'GET') {
        return defined $values{$name} ? '$' . length($values{$name}) . "\r\n$values{$name}\r\n" : "\$-1\r\n";
    }
    $value = ($values{$name} // 0) + 1 if $verb eq 'INCR';
    $values{$name} = $value;
    print $journal "$name $value\n";
    return ":$value\r\n";
}

sub word {
    my ($caller) = @_;
    my ($length) = (<$caller> // return) =~ /^\$(\d+)/ or return;
    read $caller, my $word, $length + 2;
    return substr $word, 0, $length;
}
