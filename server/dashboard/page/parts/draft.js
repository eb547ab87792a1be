/** A network on its way from the editor to a job: of this tab of the browser alone. */

const KEY = 'assay.network';

/** @returns {?Object} the description that was kept last */
export function draft() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY));
  } catch {
    return null;
  }
}

/** @param {Object} network as in a job */
export function keepDraft(network) {
  sessionStorage.setItem(KEY, JSON.stringify(network));
}
