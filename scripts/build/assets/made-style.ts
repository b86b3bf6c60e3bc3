import type { PartialMessage } from 'esbuild'
import { BuildFault } from '../build-fault.ts'

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
  readonly location: NonNullable<PartialMessage['location']>

  constructor(text: string, location: NonNullable<PartialMessage['location']>) {
    super(text)
    this.location = location
  }
}
