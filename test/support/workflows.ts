import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
import { parseYaml } from '../../scripts/shared/yaml.ts';
import { root } from './nights.ts';

export interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string | number | boolean>>;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly 'continue-on-error'?: boolean;
}

export interface Job {
  readonly name?: string;
  readonly if?: string;
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly outputs?: Readonly<Record<string, string>>;
  /** Its lists are expressions. */
  readonly strategy?: { readonly 'fail-fast'?: boolean; readonly matrix: Readonly<Record<string, string>> };
  readonly steps: readonly Step[];
}

export interface Workflow {
  readonly name: string;
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: unknown;
  readonly concurrency: { readonly group: string; readonly 'cancel-in-progress': boolean };
  readonly env?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

export function workflowText(name: string): string {
  return readFileSync(join(root, '.github/workflows', `${name}.yml`), 'utf8');
}

/** The workflow as GitHub reads it, once `faultsOf` has found nothing in it. */
export function loadWorkflow(name: string): Workflow {
  const { value, errors } = parseYaml(workflowText(name));
  if (errors.length > 0) throw new Error(`${name}.yml: ${errors[0]?.message}`);
  return value as Workflow;
}

/** What GitHub's own parser says against a workflow's text; empty where it takes it. */
export async function faultsOf(text: string): Promise<string[]> {
  const { context, value } = parseWorkflow({ name: 'workflow.yml', content: text }, new NoOperationTraceWriter());
  if (value !== undefined) await convertWorkflowTemplate(context, value);
  return context.errors.getErrors().map(({ message }) => message);
}
