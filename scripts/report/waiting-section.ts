import type { Report } from './gather.ts';
import { type Html, html } from './html.ts';
import { counted, numberText, repositoryName, timeText } from './words.ts';

/** Who waits, and what failed with its reason and what happens next. */
export function waitingSection({ waiting }: Report): Html {
  const { unread, failed, scopes, warnings, known } = waiting;
  const busy = scopes.filter(({ waiting: some, leaving, lastError }) => some + leaving > 0 || lastError !== null);
  const isCalm = unread + failed.length + busy.length + warnings.length === 0;
  return html`<section id="waiting" aria-labelledby="waiting-title">
<h2 id="waiting-title">Waiting and failed</h2>
${isCalm ? html`<p class="empty">Nothing waits and nothing failed. ${counted(known, 'session')} known.</p>` : null}
${warnings.length === 0 ? null : html`<ul class="warnings">${warnings.map((warning) => html`<li><strong>Look at this:</strong> ${warning}</li>`)}</ul>`}
${unread === 0 ? null : html`<p>${counted(unread, 'session')} of ${numberText(known)} known ${unread === 1 ? 'waits' : 'wait'} to be read by a coming night.</p>`}
${busy.length === 0 ? null : scopesTable(busy)}
${failed.length === 0 ? null : failedList(failed)}
</section>`;
}

function scopesTable(scopes: Report['waiting']['scopes']): Html {
  return html`<div class="wide" role="region" aria-label="Repositories with something to take in" tabindex="0"><table>
<caption>Repositories with something to take in</caption>
<thead><tr><th scope="col">Repository</th><th scope="col" class="number">Remembered</th><th scope="col" class="number">Waiting</th><th scope="col" class="number">Leaving</th><th scope="col">Last consolidated</th><th scope="col">Failure</th></tr></thead>
<tbody>${scopes.map(
    ({ scope, selected, waiting, leaving, consolidatedAt, failures, lastError }) =>
      html`<tr><th scope="row">${repositoryName(scope)}</th><td class="number">${numberText(selected)}</td><td class="number">${numberText(waiting)}</td><td class="number">${numberText(leaving)}</td><td>${consolidatedAt === null ? 'never' : timeText(consolidatedAt)}</td><td dir="auto">${lastError === null ? 'none' : `${failures > 1 ? `${failures} times: ` : ''}${short(lastError)}`}</td></tr>`,
  )}</tbody></table></div>`;
}

/** Failures that are named. */
const shownFailures = 100;

function failedList(failed: Report['waiting']['failed']): Html {
  const more = failed.length - shownFailures;
  return html`<h3>${counted(failed.length, 'session')} could not be read</h3>
<ul class="failures">${failed
    .slice(0, shownFailures)
    .map(
      ({ threadId, repo, title, error, triedAgainAt, retriesLeft }) =>
        html`<li class="failure"><strong dir="auto">${title === '' ? threadId : title}</strong> <span class="facts">${repositoryName(repo)} · <code>${threadId}</code></span><p dir="auto">${short(error)}</p><p class="quiet">${retriesLeft === 0 ? 'Given up until it has newer activity.' : `Tried again${triedAgainAt === null ? '' : ` from ${timeText(triedAgainAt)} UTC on`}, ${counted(retriesLeft, 'retry', 'retries')} left.`}</p></li>`,
    )}</ul>${more > 0 ? html`<p class="quiet">… and ${numberText(more)} more: <code>npm run status -- --json</code> names all.</p>` : null}`;
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= 400 ? line : `${line.slice(0, 400).replace(/[\ud800-\udbff]$/, '')} …`;
}
