#!/usr/bin/perl
# An ACP agent for benchmarks that needs nothing but Debian's base system. A prompt whose text holds a
# number is answered with that many updates of 100 bytes, ten every ten milliseconds; any other with one.
use strict;
use warnings;

$| = 1;
while (my $line = <STDIN>) {
  my ($id) = $line =~ /"id":("[^"]*"|\d+)/;
  my ($method) = $line =~ /"method":"([^"]*)"/;
  next unless defined $id && defined $method;
  my $result = '{}';
  $result = '{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}' if $method eq 'initialize';
  $result = '{"sessionId":"bench"}' if $method eq 'session/new';
  if ($method eq 'session/prompt') {
    my ($count) = $line =~ /"text":"(\d+)"/;
    flood($count // 1);
    $result = '{"stopReason":"end_turn"}';
  }
  print qq({"jsonrpc":"2.0","id":$id,"result":$result}\n);
}

sub flood {
  my ($count) = @_;
  my $text = 'x' x 100;
  my $update = qq({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"bench","update":)
    . qq({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"$text"}}}}\n);
  while ($count > 0) {
    my $burst = $count < 10 ? $count : 10;
    print $update x $burst;
    $count -= $burst;
    select(undef, undef, undef, 0.01) if $count > 0;
  }
}
