import {h} from '../../dom.js';
import {ago, count} from '../../format.js';

const SHOWN = 4;

function card(experiment) {
  const {id, name, notes, job_count: jobs, trial_count: trials, last_job_at: last} = experiment;
  return h('a', {class: 'card tile', href: `#/experiments/${id}`, 'data-test': 'experiment-card'},
    h('h3', {class: 'clip', title: name}, name),
    notes ? h('p', {class: 'muted small clip'}, notes) : null,
    h('p', {class: 'muted small'}, `${count(jobs)} ${jobs === 1 ? 'job' : 'jobs'} · ${count(trials)} trials${last ? ` · ${ago(last)}` : ''}`));
}

/** The experiments with the newest jobs first; a few, and the rest on demand. */
export function experimentCards(experiments) {
  const sorted = [...experiments].sort((a, b) => (b.last_job_at ?? '').localeCompare(a.last_job_at ?? ''));
  const grid = h('div', {class: 'grid tiles'}, sorted.slice(0, SHOWN).map(card));
  const more = h('button', {class: 'quiet small', type: 'button', 'data-test': 'all-experiments'}, `All ${count(sorted.length)} experiments`);
  more.addEventListener('click', () => {
    grid.append(...sorted.slice(SHOWN).map(card));
    more.remove();
  });
  return sorted.length === 0 ? null : h('div', {class: 'stack'}, grid, sorted.length > SHOWN ? h('div', {}, more) : null);
}
