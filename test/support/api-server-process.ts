import { startApiServer } from './api-server.ts';

// A server of its own process for the bench: answers at once, keeps nothing. Prints {"port":…} and runs until killed.
// Its one argument is the text that every answer holds.
const server = await startApiServer({ behave: () => ({ text: process.argv[2] ?? 'Hello.' }), record: false });
process.stdout.write(`${JSON.stringify({ port: server.port })}\n`);
