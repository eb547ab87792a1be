/** Trials that are chosen. Tells of changes by the event `change`. */
export class Selection extends EventTarget {
  #ids = new Set();

  /** @returns {string[]} */
  get ids() {
    return [...this.#ids];
  }

  has(id) {
    return this.#ids.has(id);
  }

  set(id, chosen) {
    this.setAll([id], chosen);
  }

  setAll(ids, chosen) {
    for (const id of ids) {
      if (chosen) {
        this.#ids.add(id);
      } else {
        this.#ids.delete(id);
      }
    }
    this.dispatchEvent(new Event('change'));
  }

  clear() {
    this.setAll(this.ids, false);
  }
}
