import {inquire, send} from '../api.js';
import {curlButton} from '../curl.js';
import {h, replace, set} from '../dom.js';
import {failure} from '../parts/failure.js';
import {issueRow} from '../parts/issues.js';
import {jsonEditor} from '../parts/json_editor.js';
import {later} from '../parts/later.js';
import {clearProblem, markProblem} from '../parts/problem.js';
import {leafPaths, schemaForm} from '../parts/schema_form.js';
import {put} from '../parts/spec.js';
import {basics} from './submit/basics.js';
import {consistent, forget, keep, learn, start} from './submit/known.js';
import {networkForm} from './submit/network.js';
import {planView} from './submit/plan.js';
import {sweepForm} from './submit/sweep.js';

/** Fields with a form of their own; all others come from the contract as they are. */
const OWN = new Set(['kind', 'dataset', 'experiment', 'name', 'notes', 'labels', 'seeds', 'search', 'weights', 'network']);
const OPEN = new Set(['training']);

function card(title, element, text = null) {
  return h('section', {class: 'card'}, h('h2', {}, title), text ? h('p', {class: 'small muted'}, text) : null, element);
}

/** A section for each object of the contract, and one for what is left. */
function sections(schema, edit) {
  const rest = Object.entries(schema.properties).filter(([name]) => !OWN.has(name));
  const objects = rest.filter(([, property]) => property.properties).map(([name, property]) => {
    const form = schemaForm(property, [name], edit);
    const title = name.charAt(0).toUpperCase() + name.slice(1);
    return {...form, element: h('details', {class: 'card', open: OPEN.has(name), 'data-test': `section-${name}`}, h('summary', {}, title),
      h('p', {class: 'small muted'}, property.description), form.element)};
  });
  const others = schemaForm({properties: Object.fromEntries(rest.filter(([, property]) => !property.properties))}, [], edit);
  return [...objects, {...others, element: h('details', {class: 'card', 'data-test': 'section-more'}, h('summary', {}, 'More'), others.element)}];
}

/** All problems of a network with how to mend them, not only the first, which the field says. */
function issuesOf(error) {
  const issues = error.body?.issues ?? [];
  return issues.length > 0 ? h('ul', {class: 'issues'}, issues.map((issue) => issueRow(issue))) : failure(error);
}

/** The document, its forms and its dry run, kept in step. */
class Submission {
  constructor(known, spec, scope) {
    Object.assign(this, {known, spec, scope, resolved: null, isStale: false});
    const edit = (path, value) => this.change(consistent(known, this.spec, put(this.spec, path, value)));
    this.sweep = sweepForm(known.schema.properties.search, edit);
    this.basics = basics(known, edit);
    this.network = networkForm(known, edit);
    this.sections = sections(known.schema, edit);
    this.parts = [this.basics, this.network, this.sweep, ...this.sections];
    this.editor = jsonEditor((value) => this.change(value), 'The job as JSON');
    this.result = h('div', {class: 'stack dry-run', 'aria-live': 'polite', 'data-test': 'dry-run'}, h('p', {class: 'muted'}, 'Asking …'));
    this.dryRun = later((signal) => this.ask(signal), 350, scope.signal);
    this.show();
    this.dryRun(0);
  }

  change(spec) {
    this.spec = spec;
    keep(spec);
    set(this.result, {'aria-busy': 'true'}); // what it says is of the document before
    this.show();
    this.dryRun();
  }

  show() {
    const swept = new Set(Object.keys(this.spec.search?.parameters ?? this.resolved?.search?.parameters ?? {}));
    this.parts.forEach((part) => part.show(this.spec, this.resolved, swept, this.isStale));
    this.editor.show(this.spec);
    const template = this.known.networks.find(({name}) => name === (this.spec.network ?? this.resolved?.network)?.name);
    this.sweep.paths([...leafPaths(this.known.schema).filter((path) => !OWN.has(path)), 'network', 'network.name',
      ...(template?.parameters ?? []).map(({name}) => `network.${name}`)]);
  }

  async ask(signal) {
    try {
      const plan = await inquire('/v1/jobs?dry_run=true', this.spec, {signal});
      this.take(plan.resolved, false);
      clearProblem(this.form);
      replace(this.result, planView(plan));
      this.button.disabled = false;
    } catch (error) {
      if (!signal.aborted) {
        this.button.disabled = error.status >= 400 && error.status < 500;
        this.take(this.resolved?.kind === this.spec.kind ? this.resolved : null, true);
        this.refuse(error);
      }
    }
  }

  /** Of a stale document only which fields there are is still good: they do not jump while somebody writes. */
  take(resolved, isStale) {
    Object.assign(this, {resolved, isStale});
    set(this.result, {'aria-busy': null});
    this.show();
  }

  refuse(error) {
    markProblem(this.form, this.result, error);
    replace(this.result, issuesOf(error), this.isStale ? h('p', {class: 'small muted', 'data-test': 'stale'}, 'Defaults are told again when a dry run goes through.') : null);
  }

  async submit() {
    this.button.disabled = true;
    try {
      const job = await send('POST', '/v1/jobs', this.spec, {signal: this.scope.signal});
      forget();
      location.hash = `#/jobs/${job.id}`;
    } catch (error) {
      this.button.disabled = false;
      this.scope.signal.aborted || this.refuse(error);
    }
  }

  element() {
    this.button = h('button', {type: 'submit', form: 'job', class: 'primary', 'data-test': 'submit-job'}, 'Submit');
    const anew = h('button', {type: 'button', class: 'quiet', 'data-test': 'submit-anew', on: {click: () => this.change(start(this.known))}}, 'Start anew');
    this.form = h('form', {id: 'job', class: 'submit-form stack gap', 'data-test': 'submit', novalidate: true, on: {submit: (event) => {
      event.preventDefault();
      this.submit();
    }}}, card('Job', this.basics.element), card('Network', this.network.element),
    card('Sweep', this.sweep.element, 'Each combination of values is a trial, once for each seed. A random search tries some of them, a Bayesian one looks where earlier trials did well; both take ranges: 0.0001 to 0.1 log, or 16 to 256 integer.'), this.sections.map(({element}) => element));
    const buttons = h('div', {class: 'row'}, this.button, curlButton(() => ({method: 'POST', path: '/v1/jobs', body: this.spec})), anew);
    const json = h('details', {class: 'card', open: matchMedia('(min-width: 1000px)').matches}, h('summary', {}, 'The job as JSON'), this.editor);
    return h('div', {class: 'submit'}, this.form, h('div', {class: 'submit-side stack gap'}, card('Dry run', [this.result, buttons]), json));
  }
}

/** A new job, or one like another. */
export function view(_, scope) {
  scope.title('New job');
  const body = h('div', {}, h('p', {class: 'muted'}, 'Asking what there is …'));
  const fill = async () => {
    const known = await learn(scope.signal);
    const spec = await known.begin(scope.query);
    replace(body, new Submission(known, spec, scope).element());
  };
  fill().catch((error) => scope.signal.aborted || replace(body, failure(error)));
  return h('section', {class: 'view'}, h('h1', {}, 'New job'), body);
}
