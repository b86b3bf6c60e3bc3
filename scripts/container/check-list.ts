/** Prints the result of each check, and collects failed ones. */
export interface CheckList {
  /** @param detail shown after the title, whatever the result. */
  check(title: string, holds: boolean, detail?: string): void
  /** Titles of failed checks. */
  readonly faults: readonly string[]
}

/** For a script whose output a person reads. */
export function createCheckList(print: (line: string) => void = console.log): CheckList {
  const faults: string[] = []
  return {
    check(title, holds, detail = '') {
      print(`${holds ? 'ok  ' : 'FAIL'} ${title}${detail === '' ? '' : `: ${detail}`}`)
      if (!holds) faults.push(title)
    },
    faults,
  }
}
