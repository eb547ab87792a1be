/** One job, live: its head, and its trials one by one or as means over seeds. */

import {poll} from '../api.js';
import {h, replace} from '../dom.js';
import {failure} from '../parts/failure.js';
import {curves} from './job/curves.js';
import {jobHead} from './job/head.js';
import {means} from './job/means.js';
import {trials} from './job/trials.js';

const TABLES = {
  trials: {label: 'Trials', make: trials},
  means: {label: 'Means over seeds', make: (job, {signal}) => means(job, signal)},
  curves: {label: 'Curves', make: curves},
};

function tableSwitch(shown, choose) {
  const buttons = Object.entries(TABLES).map(([name, {label}]) =>
    h('button', {type: 'button', 'aria-pressed': String(name === shown), 'data-test': `show-${name}`, on: {click: () => choose(name)}}, label));
  return h('div', {class: 'switch', role: 'group', 'aria-label': 'What is shown of the trials'}, buttons);
}

/** The chosen table below the switch, made when it is first shown. */
function tables(job, scope, onError) {
  const {signal, query, setQuery} = scope;
  const made = {};
  const place = h('div', {});
  const bar = h('div', {});
  const element = h('div', {class: 'stack'}, bar, place);
  element.refresh = () => {
    const name = query.get('table') in TABLES ? query.get('table') : 'trials';
    made[name] ??= TABLES[name].make(job, scope);
    if (place.firstChild !== made[name]) {
      replace(bar, tableSwitch(name, choose));
      replace(place, made[name]);
    }
    return made[name].refresh().catch((error) => signal.aborted || onError(error));
  };
  const choose = (name) => {
    setQuery({table: name === 'trials' ? '' : name});
    element.refresh();
  };
  return element;
}

/**
 * @param {string[]} parameters its id
 * @param {Object} scope
 * @returns {HTMLElement}
 */
export function view([id], scope) {
  const {signal, title} = scope;
  const path = `/v1/jobs/${id}`;
  const element = h('section', {class: 'view', 'data-test': 'job'});
  const trouble = h('div', {});
  const onError = (error) => replace(trouble, failure(error));
  let head = null;
  let below = null;

  const again = new EventTarget();
  const show = (job) => {
    title(job.name || `Job ${job.number}`);
    if (!head) {
      head = jobHead(job, () => again.dispatchEvent(new Event('changed')));
      below = tables(job, scope, onError);
      replace(element, head, trouble, below);
    }
    replace(trouble);
    head.update(job);
    below.refresh();
  };
  replace(element, h('p', {class: 'muted'}, 'Reading …'), trouble);
  poll(path, show, {signal, onError, wake: again});
  return element;
}
