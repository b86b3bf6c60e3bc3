import type { SourcePlace } from './source-place.ts'

/** A fault of the application that stops a build. Its message tells the user everything: no stack is printed. */
export class BuildFault extends Error {
  override readonly name = 'BuildFault'
  /** Where to fix it, if known. */
  readonly place: SourcePlace | undefined

  constructor(message: string, place?: SourcePlace) {
    super(message)
    this.place = place
  }
}
