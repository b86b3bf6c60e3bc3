/** Applies saved files to the development server, one state of the sources after the other. */
export interface SaveQueue {
  /** Files that have been saved or removed. Starts at once if no update is running. */
  add(files: readonly string[]): void
  /** Resolves when everything added so far has been applied. */
  idle(): Promise<void>
}

/**
 * A file that is saved during an update belongs to the next one: the running one may have read it before. Several such
 * saves make one update.
 * @param update receives the files that have changed since it last succeeded; if it returns `false`, they stay in the
 * queue.
 * @param onDefect receives errors of `update`; the files count as applied.
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
