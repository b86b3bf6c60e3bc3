/** Prints how one check went, and gathers what did not hold. */
export interface Verdicts {
  /** @param detail shown behind the title, whatever came out. */
  check(title: string, holds: boolean, detail?: string): void
  /** Titles of what did not hold. */
  readonly faults: readonly string[]
}

/** For a script whose output a person reads. */
export function createVerdicts(print: (line: string) => void = console.log): Verdicts {
  const faults: string[] = []
  return {
    check(title, holds, detail = '') {
      print(`${holds ? 'ok  ' : 'FAIL'} ${title}${detail === '' ? '' : `: ${detail}`}`)
      if (!holds) faults.push(title)
    },
    faults,
  }
}
