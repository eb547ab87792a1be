/** What was asked for, and what it became: the snapshot that a job's results belong to. */

import {curlButton} from '../../curl.js';
import {h, set} from '../../dom.js';

function listing(title, document, name) {
  return h('section', {class: 'stack'}, h('h3', {}, title),
    h('pre', {class: 'listing', tabindex: '0', 'aria-label': title, 'data-test': name}, JSON.stringify(document, null, 2)));
}

/**
 * @param {Object} job whole, with both documents
 * @returns {HTMLElement}
 */
export function definition({submitted, resolved}) {
  const again = set(curlButton(() => ({method: 'POST', path: '/v1/jobs', body: submitted})), {'data-test': 'curl-submit'});
  return h('details', {'data-test': 'definition'}, h('summary', {}, 'Definition'),
    h('div', {class: 'grid best-of definition'}, listing('As submitted', submitted, 'submitted'), listing('With all defaults, as it runs', resolved, 'resolved')),
    again);
}
