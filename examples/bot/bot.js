#!/usr/bin/env node
// A bot in a page: asks a hub to run one prompt and answers with what came of it.
//
//   node bot.js ws://127.0.0.1:9187 'uname -a'            on the hub's own host
//   node bot.js ws://127.0.0.1:9187 'uname -a' box        in computer://box
//
// The token, if the hub asks for one, is read from AHPD_TOKEN. The only package is `ws`:
// `apt-get install nodejs node-ws`, or `npm install ws` in this folder.
"use strict";

const { randomUUID } = require("node:crypto");
const WebSocket = require("ws");

const [url, prompt, computer] = process.argv.slice(2);
if (!url || !prompt) {
  console.error("usage: node bot.js ws://HOST:PORT PROMPT [COMPUTER]");
  process.exit(2);
}

const token = process.env.AHPD_TOKEN;
const headers = token ? { Authorization: `Bearer ${token}` } : {};
const socket = new WebSocket(url, { headers });
const waiting = new Map(); // request id -> what to do with the answer
let lastId = 0;
let onAction = () => {};

// Every request is JSON-RPC in one text frame, and its params name a channel.
function ask(method, params) {
  const id = ++lastId;
  socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

// What changes state is an action: sent without an id, heard back as its echo.
let clientSeq = 0;
function dispatch(channel, action) {
  const params = { channel, clientSeq: ++clientSeq, action };
  socket.send(JSON.stringify({ jsonrpc: "2.0", method: "dispatchAction", params }));
}

socket.on("message", (data) => {
  const frame = JSON.parse(data);
  if (frame.method === "action") {
    onAction(frame.params);
  } else if (frame.method && frame.id !== undefined) {
    const error = { code: -32601, message: "this bot serves nothing" };
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: frame.id, error }));
  } else if (waiting.has(frame.id)) {
    const { resolve, reject } = waiting.get(frame.id);
    waiting.delete(frame.id);
    if (frame.error) reject(new Error(`${frame.error.code}: ${frame.error.message}`));
    else resolve(frame.result);
  }
});

function stop(message) {
  console.error(message);
  process.exit(1);
}
socket.on("error", (why) => stop(`no hub: ${why.message}`));
socket.on("close", () => stop("the hub closed the connection"));

async function run() {
  await ask("initialize", {
    channel: "ahp-root://",
    protocolVersions: ["1.0.0", "0.9.0"],
    clientId: `bot-${randomUUID()}`,
    clientInfo: { name: "example-bot", version: "1" },
    capabilities: {},
  });

  const session = `ahp-session:/${randomUUID()}`;
  const config = computer ? { computer: `computer://${computer}` } : {};
  await ask("createSession", { channel: session, provider: "shell", config });
  const { snapshot } = await ask("subscribe", { channel: session });
  const chat = snapshot.state.defaultChat;
  await ask("subscribe", { channel: chat });

  const turnId = randomUUID();
  let output = "";
  const ended = new Promise((resolve) => {
    onAction = ({ channel, action, rejectionReason }) => {
      if (channel !== chat || (action.turnId && action.turnId !== turnId)) return;
      if (rejectionReason) stop(`refused: ${rejectionReason}`);
      // content is always the whole output so far, as far as the hub still holds it
      if (action.type === "chat/toolCallComplete")
        output += (action.result.content ?? []).map((c) => c.text ?? "").join("");
      if (["chat/turnComplete", "chat/turnCancelled", "chat/error"].includes(action.type))
        resolve(action.type.slice("chat/".length));
    };
  });
  dispatch(chat, {
    type: "chat/turnStarted",
    turnId,
    startedAt: new Date().toISOString(),
    message: { text: prompt, origin: { kind: "user" } },
  });
  const how = await ended;
  console.log(output.trimEnd());
  await ask("disposeSession", { channel: session });
  process.exit(how === "turnComplete" ? 0 : 1);
}

socket.on("open", () => run().catch((why) => stop(why.message)));
