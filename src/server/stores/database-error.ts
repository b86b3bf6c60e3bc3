/** A database file that cannot be opened; its message names the file, the fault and the remedy. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
  /** Absolute path of the file. */
  readonly path: string

  constructor(path: string, fault: string, cause?: unknown) {
    super(`${path}: ${fault}`, { cause })
    this.path = path
  }
}
