/**
 * What a model did wrong when it called a tool: it goes back to the model as the call's result, so the message says
 * what to do instead. Whatever else is thrown is no mistake of the model's.
 */
export class ToolError extends Error {
  constructor(message: string, remedy: string) {
    super(`${message} ${remedy}`);
    this.name = 'ToolError';
  }
}
