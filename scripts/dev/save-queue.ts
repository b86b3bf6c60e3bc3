/** Brings the development server up to what has been saved, one state of the sources after the other. */
export interface SaveQueue {
  /** These files have been saved, or removed. Begins at once where nothing is under way. */
  add(files: readonly string[]): void
  /** Settles when everything added so far has been dealt with. */
  idle(): Promise<void>
}

/**
 * A file that is saved while an update runs belongs to the next one: the running one may have read it before. Several
 * such saves make one update.
 * @param update told the files that are different since it last succeeded; `false` means that they still are.
 * @param onDefect told what `update` throws; the files count as dealt with.
 */
export function createSaveQueue(
  update: (files: readonly string[]) => Promise<boolean>,
  onDefect: (error: unknown) => void,
): SaveQueue {
  const state = { waiting: new Set<string>(), asked: false, work: Promise.resolve(), running: false }

  async function run(): Promise<void> {
    while (state.asked) {
      const files = state.waiting
      state.waiting = new Set()
      state.asked = false
      try {
        if (!(await update([...files]))) state.waiting = new Set([...files, ...state.waiting])
      } catch (error) {
        onDefect(error)
      }
    }
    state.running = false
  }

  return {
    add(files) {
      for (const file of files) state.waiting.add(file)
      state.asked = true
      if (state.running) return
      state.running = true
      state.work = run()
    },
    idle: () => state.work,
  }
}
