/** Where log lines go. */
export interface LogDestination {
  /** Takes whole lines. */
  write(lines: string): void
  /** Writes the gathered lines. */
  flush(): void
  /**
   * Writes them, and waits until the system has accepted them.
   * @throws {Error} if the reader has closed the pipe.
   */
  flushSync(): void
}

/**
 * Gathers log lines and writes them together: one write per request would be slow.
 * @param most characters per write; a longer line is written alone.
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
