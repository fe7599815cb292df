// The server that the hub is measured against: Node's `ws`, answering the same JSON and doing
// nothing else. Prints its port. Requests: `ping`; `join`, which follows; `flood {count}`, which sends
// that many actions to all who follow, ten every ten milliseconds.
'use strict';
const { WebSocketServer } = require('ws');

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
const followers = new Set();
let seq = 0;

function say() {
  const frame = JSON.stringify({
    jsonrpc: '2.0',
    method: 'action',
    params: {
      channel: 'ahp-chat:/bench',
      action: { type: 'chat/delta', turnId: 't', partId: 'p', content: 'x'.repeat(100) },
      serverSeq: ++seq,
    },
  });
  for (const socket of followers) socket.send(frame);
}

function flood(count) {
  const timer = setInterval(() => {
    for (let i = 0; i < 10 && count > 0; ++i, --count) say();
    if (count === 0) clearInterval(timer);
  }, 10);
}

server.on('connection', (socket) => {
  socket.on('message', (data) => {
    const request = JSON.parse(data.toString());
    if (request.method === 'join') followers.add(socket);
    if (request.method === 'flood') flood(request.params.count);
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: request.id, result: null }));
  });
  socket.on('close', () => followers.delete(socket));
});
server.on('listening', () => console.log(server.address().port));
