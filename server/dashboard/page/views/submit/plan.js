import {h} from '../../dom.js';
import {bytes, count, duration, metricWords, nounOf, value} from '../../format.js';
import {figure} from '../../parts/figure.js';

const SHOWN = 12;
const BASES = {history: 'as earlier jobs took', multiply_adds: 'by the work that is to be done'};

function warnings(list) {
  return list.length ? h('ul', {class: 'issues'}, list.map(({pointer, text}) =>
    h('li', {class: 'issue is-warning', 'data-test': 'plan-warning'}, h('b', {}, 'Warning'), `: ${text} `, h('code', {class: 'small'}, pointer)))) : null;
}

function trials(plan) {
  const paths = Object.keys(plan.trials[0]?.parameters ?? {});
  const left = plan.trial_count - Math.min(plan.trials.length, SHOWN);
  return h('details', {}, h('summary', {}, 'Trials'), h('div', {class: 'table-box', tabindex: '0', role: 'region', 'aria-label': 'Trials'}, h('table', {},
    h('thead', {}, h('tr', {}, ['', ...paths, 'seed'].map((text) => h('th', {scope: 'col'}, text)))),
    h('tbody', {}, plan.trials.slice(0, SHOWN).map(({index, parameters, seed}) => h('tr', {}, h('td', {class: 'numeric muted'}, index),
      paths.map((path) => h('td', {class: 'break'}, value(parameters[path]))), h('td', {class: 'numeric'}, seed)))))),
  left > 0 ? h('p', {class: 'small muted'}, `and ${count(left)} more`) : null);
}

/**
 * What a job would be.
 * @param {Object} plan of a dry run
 * @returns {HTMLElement}
 */
export function planView(plan) {
  const {seconds, basis, memory_bytes: memory} = plan.estimate;
  return h('div', {class: 'stack', 'data-test': 'plan'},
    h('div', {class: 'figures'}, figure(nounOf(plan.trial_count, 'trial'), count(plan.trial_count), 'plan-trials'),
      figure('on one core, all in turn', duration(seconds), 'plan-seconds'), figure('the largest trial', bytes(memory), 'plan-memory')),
    h('p', {class: 'small muted'}, `Time ${BASES[basis] ?? basis}. Ranked by ${metricWords(plan.headline_metric)}.`),
    warnings(plan.warnings), trials(plan));
}
