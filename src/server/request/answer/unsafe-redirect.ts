import type { RedirectSignal } from '../../../shared/control-flow.ts'

/** A redirect whose target leaves this site, or is no URL at all. Its stack tells where the redirect was asked for. */
export class UnsafeRedirectError extends Error {
  override readonly name = 'UnsafeRedirectError'

  constructor({ to, stack = '' }: Pick<RedirectSignal, 'to' | 'stack'>) {
    super(
      `redirect() was refused to send the visitor to ${JSON.stringify(to.slice(0, 200))}: it is no path of this site`,
    )
    const frames = stack.indexOf('\n    at ')
    // Equal for equal signals, so that one that is met twice is one failure.
    this.stack = `${this.name}: ${this.message}${frames === -1 ? '' : stack.slice(frames)}`
  }
}
