/** A row a setting: mean and 95 % interval over its seeds, as the results table of the API gives them. */

import {get} from '../../api.js';
import {h, replace} from '../../dom.js';
import {count, interval, metricName, number, value} from '../../format.js';
import {failure} from '../../parts/failure.js';
import {sideways} from '../../parts/sideways.js';
import {targetsNote} from '../../parts/targets.js';

const PAGE = 200;
const PATIENCE = 10; // times what the last reading took: means are made of all trials each time

function meanCell(cell) {
  const range = interval(cell?.low, cell?.high);
  return h('td', {class: 'numeric', title: cell ? `n = ${cell.n}, deviation ${number(cell.deviation)}` : null},
    number(cell?.mean), range ? h('span', {class: 'muted small'}, `  ${range}`) : null);
}

function settingRow({parameters, trials, metrics}, names, figures) {
  return h('tr', {'data-test': 'mean-row'},
    names.map((name) => h('td', {class: 'strong'}, value(parameters[name]))),
    h('td', {class: 'numeric'}, count(trials)),
    figures.map((name) => meanCell(metrics[name])));
}

function table(groups, figures) {
  const names = [...new Set(groups.flatMap((group) => Object.keys(group.parameters)))];
  return h('table', {'data-test': 'means'},
    h('thead', {}, h('tr', {}, names.map((name) => h('th', {scope: 'col', title: name}, metricName(name.split('.').at(-1)))), h('th', {scope: 'col', class: 'numeric'}, 'Trials'),
      figures.map((name) => h('th', {scope: 'col', class: 'numeric', title: '95 % interval of the mean (Student\'s t) beside it'}, metricName(name))))),
    h('tbody', {}, groups.map((group) => settingRow(group, names, figures))));
}

/**
 * @param {Object} job
 * @param {AbortSignal} signal
 * @returns {HTMLElement} with a method `refresh()`
 */
export function means(job, signal) {
  const box = h('div', {class: 'table-box', tabindex: '0', role: 'region', 'aria-label': 'Means over seeds'});
  const more = h('button', {type: 'button', hidden: true, 'data-test': 'more-means'}, 'Show more');
  const element = h('div', {class: 'stack'}, sideways(box), targetsNote(job.target_parameters, 'muted small'), h('div', {class: 'row end'}, more));
  let wanted = PAGE;
  let due = 0;

  element.refresh = async (isAsked = false) => {
    const began = performance.now();
    if (began < due && !isAsked) {
      return;
    }
    due = Infinity; // while it reads
    const groups = [];
    const figures = new Set();
    let cursor = null;
    do {
      const mark = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
      const page = await get(`/v1/jobs/${job.id}/results?over=seeds&limit=${PAGE}${mark}`, {signal});
      groups.push(...page.groups);
      page.metrics.forEach((name) => figures.add(name));
      cursor = page.next_cursor;
    } while (cursor && groups.length < wanted);
    due = performance.now() + PATIENCE * (performance.now() - began);
    more.hidden = !cursor;
    replace(box, table(groups, [...figures].sort((a, b) => (b === job.headline_metric) - (a === job.headline_metric))));
  };
  more.addEventListener('click', () => {
    wanted += PAGE;
    element.refresh(true).catch((error) => signal.aborted || replace(box, failure(error)));
  });
  return element;
}
