import type { Said } from './said.ts';

/**
 * Whose word a line has, from the strongest: a person's, what a session saw happen, an agent's, a stranger's (the web, an
 * MCP server, what a program put in).
 */
export const authorities = ['human', 'observed', 'agent', 'external'] as const;

export type Authority = (typeof authorities)[number];

/** Of one item. What a tool fetched from elsewhere was observed, but what it says is a stranger's. */
export function authorityOfItem({ who, does }: Pick<Said, 'who' | 'does'>): Authority {
  switch (who) {
    case 'human':
      return 'human';
    case 'tool':
      return does === 'web' || does === 'mcp' ? 'external' : 'observed';
    case 'assistant':
    case 'commentary':
    case 'other_agent':
      return 'agent';
    case 'harness':
      return 'external';
  }
}

/** The strongest of a line's items; null where it has none. */
export function authorityOf(items: readonly Pick<Said, 'who' | 'does'>[]): Authority | null {
  const found = new Set(items.map(authorityOfItem));
  return authorities.find((authority) => found.has(authority)) ?? null;
}
