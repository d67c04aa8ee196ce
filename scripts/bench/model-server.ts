import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stopwatch } from '../shared/clock.ts';
import { type ExitCode, exitCodes } from '../shared/errors.ts';
import type { CommandSpec } from '../shared/flags.ts';
import { main, type World } from '../shared/main.ts';
import { answerTo } from './answer.ts';
import { type CallLog, kindOf, openCallLog } from './model-calls.ts';

const spec: CommandSpec = {
  name: 'bench',
  purpose: 'The server that the bench asks: speaks /v1/responses, answers at once, runs until it is stopped.',
  flags: {
    width: {
      kind: 'value',
      value: '<requests>',
      help: 'hold the first answers until that many requests are open, two seconds at most',
    },
  },
  positionals: [],
  examples: ['npx tsx scripts/bench/model-server.ts --width 8'],
};

/** Where fewer requests are ever open, so that the bench goes on and says so. */
const longestWaitMs = 2_000;

await main(spec, serve);

/**
 * Its first line of output is its address. `GET /figures` says how many requests there were and begins anew; `POST
 * /mark` begins what `GET /calls` tells.
 */
async function serve({ flags, log, signal }: World): Promise<ExitCode> {
  const gate = openGate(Number(flags.valueOf('width') ?? 1));
  const calls = openCallLog(stopwatch());
  const server = createServer((request, response) => {
    switch (request.url) {
      case '/figures':
        return response.end(JSON.stringify(gate.figures()));
      case '/mark':
        calls.mark();
        return response.end();
      case '/calls':
        return response.end(JSON.stringify(calls.seen()));
    }
    if (request.method !== 'POST') return response.writeHead(404).end();
    return answer(request, response, gate, calls).catch((error: unknown) => {
      log.warn(String(error));
      response.destroy();
    });
  });
  // A connection that is closed while a busy machine takes its time would look like a lost request.
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  log.result(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
  server.close();
  server.closeAllConnections();
  return exitCodes.done;
}

async function answer(request: IncomingMessage, response: ServerResponse, gate: Gate, calls: CallLog): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const asked = Buffer.concat(chunks).toString('utf8');
  const kind = kindOf(request.headers, asked);
  calls.came(kind);
  await gate.enter();
  const body = answerTo(asked);
  gate.leave();
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.end(body, () => calls.answered(kind));
}

interface Gate {
  /** Counts a request; while the gate is closed it waits for others. */
  enter(): Promise<void>;
  leave(): void;
  /** What was counted; closes the gate again. */
  figures(): { readonly requests: number; readonly mostOpen: number };
}

function openGate(width: number): Gate {
  let [requests, open, mostOpen] = [0, 0, 0];
  let isClosed = true;
  let waiting: (() => void)[] = [];
  let timers: NodeJS.Timeout[] = [];
  const release = (): void => {
    isClosed = false;
    for (const timer of timers) clearTimeout(timer);
    timers = [];
    for (const go of waiting) go();
    waiting = [];
  };
  return {
    async enter() {
      requests += 1;
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      if (!isClosed) return;
      const waits = new Promise<void>((go) => waiting.push(go));
      if (waiting.length === 1) timers.push(setTimeout(release, longestWaitMs));
      // A little later, so that one more than there should be is seen as well.
      if (open >= width) timers.push(setTimeout(release, 50));
      await waits;
    },
    leave() {
      open -= 1;
    },
    figures() {
      const seen = { requests, mostOpen };
      [requests, mostOpen, isClosed] = [0, open, true];
      return seen;
    },
  };
}
