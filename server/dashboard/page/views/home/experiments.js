import {h, replace} from '../../dom.js';
import {count, plural} from '../../format.js';
import {keyed} from '../../parts/keyed.js';
import {when} from '../../parts/when.js';

const SHOWN = 4;

function card(experiment) {
  const {id, name, notes, job_count: jobs, trial_count: trials, last_job_at: last} = experiment;
  return h('a', {class: 'card tile', href: `#/experiments/${id}`, 'data-test': 'experiment-card'},
    h('h3', {class: 'clip', title: name}, name),
    notes ? h('p', {class: 'muted small clip'}, notes) : null,
    h('p', {class: 'muted small'}, `${plural(jobs, 'job')} · ${plural(trials, 'trial')}`, last ? [' · last job ', when(last)] : null));
}

/**
 * The experiments with the newest jobs first; a few, and the rest on demand.
 * @returns {HTMLElement} with a method `show(experiments)`
 */
export function experimentCards() {
  const grid = h('div', {class: 'grid tiles'});
  const more = h('button', {class: 'quiet small', type: 'button', hidden: true, 'data-test': 'all-experiments'});
  const element = h('div', {class: 'stack', hidden: true}, grid, h('div', {}, more));
  const draw = keyed(grid, ({id}) => id, card);
  let sorted = [];
  let isWhole = false;
  const show = () => {
    element.hidden = sorted.length === 0;
    more.hidden = isWhole || sorted.length <= SHOWN;
    replace(more, `All ${count(sorted.length)} experiments`);
    draw(isWhole ? sorted : sorted.slice(0, SHOWN));
  };
  more.addEventListener('click', () => {
    isWhole = true;
    show();
  });
  element.show = (experiments) => {
    sorted = [...experiments].sort((a, b) => (b.last_job_at ?? '').localeCompare(a.last_job_at ?? ''));
    show();
  };
  return element;
}
