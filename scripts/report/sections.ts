import type { Report } from './gather.ts';
import { type Html, html } from './html.ts';
import type { Packed } from './pack.ts';
import { counted, numberText, timeText, usdText } from './words.ts';

/** The head of the page: whose memory it is, and the figures that matter most. */
export function overview({ branch, stateOid, now, index, nights, waiting }: Report): Html {
  const topics = index.repositories.flatMap((repository) => repository.topics);
  const lines = topics.reduce((sum, topic) => sum + topic.lines.length, 0);
  const cited = index.sessions.filter(({ use }) => use.cited > 0).length;
  const { month, unread, failed } = waiting;
  const [last] = nights;
  return html`<header>
<p class="eyebrow">commit-to-memory</p>
<h1>What the memory knows</h1>
<p class="lead">Branch <bdi>${branch}</bdi> as of <time>${timeText(now)} UTC</time>${stateOid === null ? '' : `, state ${stateOid.slice(0, 12)}`}. ${last === undefined ? 'No night has run yet.' : `Last night: ${timeText(last.at)} UTC.`}</p>
<dl class="figures">
${figure(numberText(lines), lines === 1 ? 'line' : 'lines', `in ${counted(topics.length, 'topic')} of ${counted(index.repositories.length, 'repository', 'repositories')}`)}
${figure(numberText(index.sessions.length), index.sessions.length === 1 ? 'session remembered' : 'sessions remembered', `${numberText(cited)} cited in ${index.windowDays} days`)}
${figure(numberText(unread), unread === 1 ? 'session waits' : 'sessions wait', `${numberText(failed.length)} failed`)}
${figure(usdText(month.usd), 'this month', `${numberText(month.tokens)} tokens${month.usdPerMonth === null ? '' : ` of ${usdText(month.usdPerMonth)}`}`)}
</dl>
<nav aria-label="Sections"><ul>
<li><a href="#memory">Memory</a></li><li><a href="#told">What sessions are told</a></li><li><a href="#use">Use</a></li><li><a href="#nights">Nights</a></li><li><a href="#waiting">Waiting and failed</a></li>
</ul></nav>
</header>`;
}

function figure(value: string, name: string, more: string): Html {
  return html`<div><dt>${name}</dt><dd class="value">${value}</dd><dd class="more">${more}</dd></div>`;
}

/** Search, and the place where the script puts the handbook. */
export function memorySection({ index }: Report, { isCut, limits }: Packed): Html {
  return html`<section id="memory" aria-labelledby="memory-title">
<h2 id="memory-title">Memory</h2>
<form role="search" aria-label="Search the memory">
<label for="query">Search lines and the words of sessions</label>
<input id="query" type="search" autocomplete="off" spellcheck="false">
<p id="found" class="found" role="status"></p>
<ol id="results" class="results"></ol>
</form>
<noscript><p class="empty">Lines, use and search are put together by the script in this file, and scripts are off. Figures, nights and what waits are below.</p></noscript>
${index.repositories.length === 0 ? html`<p class="empty">Nothing is remembered yet. The first night fills this page: <code>npm run nightly</code>, or <code>npm start</code> to see it with samples.</p>` : html`<p class="quiet">Open a line to see whose words it rests on; open the session for the rest.${isCut ? ` Long words are cut: ${numberText(limits.item)} characters an item, ${numberText(limits.summary)} a summary.` : ''}</p>`}
<div id="tree"></div>
</section>`;
}

/** `memory_summary.md`. */
export function toldSection({ told }: Report): Html {
  return html`<section id="told" aria-labelledby="told-title">
<h2 id="told-title">What every session is told</h2>
${told.length === 0 ? html`<p class="empty">There is no summary yet.</p>` : null}
${told.map(
  ({ heading, lines }) =>
    html`<h3>${heading}</h3><ul class="told">${lines.map((line) => html`<li dir="auto">${line}</li>`)}</ul>`,
)}
</section>`;
}

/** Use of each session's memory: the script fills in the rows. */
export function useSection({ index, agents }: Report): Html {
  const { sessions, windowDays } = index;
  const uncited = sessions.filter(({ use }) => use.cited === 0).length;
  if (sessions.length === 0)
    return html`<section id="use" aria-labelledby="use-title"><h2 id="use-title">Use</h2><p class="empty">No session is remembered yet.</p><table hidden><thead><tr id="use-columns"></tr></thead><tbody id="use-rows"></tbody></table><p id="use-more" class="use-more"></p></section>`;
  return html`<section id="use" aria-labelledby="use-title">
<h2 id="use-title">Use</h2>
<p>In the last ${counted(windowDays, 'day')}, ${numberText(uncited)} of ${counted(sessions.length, 'session')} were not cited. What stays uncited is forgotten, except where a person’s words stand behind it.</p>
${agents.length === 0 ? html`<p class="quiet">No agent was given memory in that time.</p>` : html`<ul class="agents">${agents.map(({ agent, injected, citing }) => html`<li><strong>${agent}</strong> ${counted(injected, 'session')} given memory, ${numberText(citing)} cite</li>`)}</ul>`}
<div class="wide" role="region" aria-label="Use of each session’s memory" tabindex="0">
<table>
<caption>Sessions that were given, found or read a memory; citations, one a person and day</caption>
<thead><tr id="use-columns"><th scope="col">Session</th></tr></thead>
<tbody id="use-rows"></tbody>
</table>
</div>
<p id="use-more" class="use-more"></p>
</section>`;
}

/** Where a session's words are shown. */
export function sessionDialog(): Html {
  return html`<dialog id="session" aria-labelledby="session-title">
<div class="dialog-head"><h2 id="session-title" dir="auto">Session</h2><button type="button" id="session-close">Close</button></div>
<div id="session-body" class="session-body" tabindex="0" role="region" aria-labelledby="session-title"></div>
</dialog>`;
}
