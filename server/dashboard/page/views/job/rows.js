/**
 * All trials of a job in memory: thousands are read page by page once, and then only those that have
 * changed. So every column sorts and filters at once, and no answer is large.
 */

import {get} from '../../api.js';

const PAGE = 300;
const FIELDS = 'id,number,index,parameters,seed,state,explanation,requested,discarded,notes,labels,step,total_steps,epoch,phase,'
  + 'headline_value,error,seconds,attempt,metrics,training_loss';

/** Trials of a job, by id, in the order of the sweep. */
export class Rows {
  #base;
  #signal;
  #onChange;
  #byId = new Map();
  #running = null; // the refresh under way
  #again = false;

  /** Revision of the job up to which all is known. */
  revision = 0;
  /** Names of the figures that there are, "<part>_<metric>". */
  metrics = [];

  /**
   * @param {string} jobId
   * @param {function(Rows)} onChange called after each page that brought something
   * @param {AbortSignal} signal
   */
  constructor(jobId, onChange, signal) {
    this.#base = `/v1/jobs/${jobId}/results?discarded=any&limit=${PAGE}&fields=${FIELDS}`;
    this.#onChange = onChange;
    this.#signal = signal;
  }

  /** @returns {Object[]} */
  get all() {
    return [...this.#byId.values()];
  }

  /** Reads what has changed. While it reads, further calls make it read once more. */
  refresh() {
    if (this.#running) {
      this.#again = true;
      return this.#running;
    }
    this.#running = this.#read().finally(() => {
      this.#running = null;
      if (this.#again && !this.#signal.aborted) {
        this.#again = false;
        this.refresh();
      }
    });
    return this.#running;
  }

  async #read() {
    const since = this.revision;
    let revision = null;
    for (let cursor = null; ; ) {
      const mark = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
      const page = await get(`${this.#base}&changed_since=${since}${mark}`, {signal: this.#signal});
      revision ??= page.revision; // of the first page: what changed while others were read comes again
      this.#take(page);
      cursor = page.next_cursor;
      if (!cursor) {
        break;
      }
    }
    this.revision = revision;
  }

  #take({items, metrics}) {
    this.metrics = [...new Set([...this.metrics, ...metrics])];
    for (const row of items) {
      this.#byId.set(row.id, row);
    }
    if (items.length > 0) {
      this.#onChange(this);
    }
  }
}
