import type { PartialMessage } from 'esbuild'
import { BuildFault } from './build-fault.ts'

/** CSS that a tool has made of a stylesheet. */
export interface MadeStyle {
  readonly css: string
  /** JSON. */
  readonly map?: string
  /** What was read beside the stylesheet; absolute paths. */
  readonly files: readonly string[]
  readonly folders: readonly string[]
  readonly warnings: readonly PartialMessage[]
}

/** A fault of a stylesheet, with its place. */
export class StyleFault extends BuildFault {
  readonly place: NonNullable<PartialMessage['location']>

  constructor(text: string, place: NonNullable<PartialMessage['location']>) {
    super(text)
    this.place = place
  }
}
