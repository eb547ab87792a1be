import {h} from '../../dom.js';
import {metricWords, number} from '../../format.js';
import {severalTargets} from '../../parts/targets.js';
import {link} from '../../router.js';

const SHOWN = 5;
function sorted(jobs) {
  const sign = jobs[0].headline_direction === 'lower' ? 1 : -1;
  return [...jobs].sort((a, b) => sign * (a.best.value - b.best.value));
}

function place(job, rank) {
  return h('tr', {'data-test': 'best-row'},
    h('td', {class: 'muted'}, `${rank + 1}.`),
    h('td', {class: 'numeric strong'}, h('a', {href: `#/trials/${job.best.trial}`}, number(job.best.value))),
    h('td', {class: 'break'}, h('a', {href: `#/jobs/${job.id}`}, job.name || `Job ${job.number}`), severalTargets(job.target_parameters)),
    h('td', {class: 'muted break'}, job.dataset.name));
}

function ranking(metric, jobs) {
  const first = sorted(jobs).slice(0, SHOWN);
  const compare = first.length > 1
    ? h('a', {class: 'button small', href: link('/compare', {trials: first.map((job) => job.best.trial).join(',')})}, 'Compare') : null;
  return h('section', {class: 'card'},
    h('div', {class: 'row between'}, h('h2', {}, `Best by ${metricWords(metric)}`), compare),
    h('table', {'aria-label': `Best by ${metricWords(metric)}`}, h('tbody', {}, first.map(place))));
}

/**
 * The best trials of some jobs, a table a metric: figures of different metrics are not compared.
 * @param {Object[]} jobs
 */
export function best(jobs) {
  const metrics = new Map();
  for (const job of jobs) {
    if (job.best && Number.isFinite(job.best.value)) {
      metrics.set(job.headline_metric, [...(metrics.get(job.headline_metric) ?? []), job]);
    }
  }
  return h('div', {class: 'grid best-of'}, [...metrics].map(([metric, of]) => ranking(metric, of)));
}
