import type { RedirectSignal } from '../../../shared/control-flow.ts'

/**
 * A redirect to an invalid URL, or to another site without permission. Its stack shows where the redirect was thrown.
 */
export class UnsafeRedirectError extends Error {
  override readonly name = 'UnsafeRedirectError'

  constructor({ to, stack = '' }: Pick<RedirectSignal, 'to' | 'stack'>) {
    super(
      `redirect() was refused to send the visitor to ${JSON.stringify(to.slice(0, 200))}: it is no path of this site`,
    )
    const frames = stack.indexOf('\n    at ')
    // Equal for equal signals, so that a repeated one is one failure.
    this.stack = `${this.name}: ${this.message}${frames === -1 ? '' : stack.slice(frames)}`
  }
}
