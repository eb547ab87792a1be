import {get, poll} from '../api.js';
import {h, replace} from '../dom.js';
import {percent, value} from '../format.js';
import {badge} from '../parts/badge.js';
import {failure} from '../parts/failure.js';
import {tabs} from './trial/tabs.js';

/** The link of each tab; the chosen one is marked. */
function tabLinks(shown, chosen, id) {
  return h('nav', {class: 'tabs', 'aria-label': 'What of the trial'}, shown.map(({name, label}) =>
    h('a', {href: `#/trials/${id}?tab=${name}`, 'aria-current': name === chosen?.name ? 'page' : null, 'data-test': `tab-${name}`}, label)));
}

function facts(trial) {
  const rows = [
    ['State', badge(trial.state)],
    ['What happened', trial.explanation],
    ['Reason', trial.error?.text],
    ...Object.entries(trial.parameters ?? {}).map(([key, chosen]) => [key, value(chosen)]),
    ['Progress', trial.total_steps ? percent(trial.step / trial.total_steps) : null],
  ];
  return rows.filter(([, shown]) => shown).map(([key, shown]) => [h('dt', {}, key), h('dd', {}, shown)]);
}

/** One trial: its facts, kept up to date, and a tab of what it left. */
export function view([id], scope) {
  const {signal, query, title} = scope;
  const head = h('div', {class: 'trial-head'});
  const body = h('div', {'data-test': 'tab-body'});
  const fill = async () => {
    const trial = await get(`/v1/trials/${id}`, {signal});
    const job = await get(`/v1/jobs/${trial.job.id}`, {signal});
    const shown = tabs.filter((tab) => tab.applies(trial, job));
    const chosen = shown.find((tab) => tab.name === query.get('tab')) ?? shown[0];
    const name = `Trial ${trial.index}`;
    title(`${name} of ${job.name}`);
    const list = h('dl', {class: 'facts', 'data-test': 'trial-facts'});
    poll(`/v1/trials/${id}`, (row) => replace(list, facts(row)), {signal});
    replace(head,
      h('p', {class: 'crumbs'}, h('a', {href: `#/jobs/${job.id}`}, job.name)),
      h('h1', {}, name), list, tabLinks(shown, chosen, id));
    replace(body, chosen ? chosen.show(trial, job, scope) : null);
  };
  fill().catch((error) => signal.aborted || replace(body, failure(error)));
  return h('section', {class: 'view'}, head, body);
}
