/** Where log lines go. */
export interface LogDestination {
  /** Takes whole lines. */
  write(lines: string): void
  /** Writes what has been gathered. */
  flush(): void
  /**
   * Writes it, and waits until the system has it.
   * @throws {Error} where nobody reads any more.
   */
  flushSync(): void
}

/**
 * Gathers lines and hands them on together: whoever takes them has to look at all of what is there for each piece that is
 * added, and there is one for each request.
 * @param most characters that are handed on at once; a line that is longer goes by itself.
 */
export function gatherLines(
  destination: { write(text: string): unknown; flushSync(): void },
  most: number,
): LogDestination {
  let gathered = ''

  function flush(): void {
    if (gathered === '') return
    const text = gathered
    gathered = ''
    destination.write(text)
  }

  return {
    write(lines) {
      if (gathered.length + lines.length > most) flush()
      gathered += lines
    },
    flush,
    flushSync() {
      flush()
      destination.flushSync()
    },
  }
}
