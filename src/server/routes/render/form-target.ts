import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { documentCaching } from '../../request/answer/caching.ts'
import type { RequestContext } from '../../request/context.ts'
import type { NamedAction } from '../../request/named-action.ts'
import { argumentsPurpose } from './bound-arguments.ts'

/** A form that belongs to a `useActionState`. */
export interface StateForm {
  /** Of its action. */
  readonly id: string
  /** Bound arguments, without the state. */
  readonly args: readonly unknown[]
  /** React's key for it. */
  readonly key: string
}

/** Facts about the page that its forms need. */
export interface FormTarget {
  /** Of the page, still percent-encoded. */
  readonly pathname: string
  /** `''` or with its question mark. */
  readonly search: string
  /** Whether a form has been rendered, and with it the query: then the document depends on the whole query. */
  readonly namesQuery?: boolean
  /** Makes a call of this document run once, however often it is sent; absent if many visitors share the document. */
  readonly callKey: string | undefined
  /** Set for a document that is streamed: its nonce makes it one visitor's. */
  isStreamed?: boolean
  /** Whether a form has got `once`: then the document is one visitor's. */
  readonly hasCallKey?: boolean
  /**
   * Forms that belong to a `useActionState`, in the order of rendering. React's two renderers name them differently, so
   * the page that such a form is posted to must use the same renderer.
   */
  readonly stateForms: StateForm[]
  /** In a test app: gives an action without an id one; see `ActionAdoption`. */
  readonly adopt?: ((action: NamedAction) => void) | undefined
  /** Signs bound arguments for one action. */
  sign(actionId: string, text: string): string
}

/** React asks an action for its form's attributes without naming the page: the render's async context identifies it. */
const forms = new AsyncLocalStorage<FormTarget>()

/** Renders with this page as the target of its forms. */
export function withForms<Result>(target: FormTarget, render: () => Result): Result {
  return forms.run(target, render)
}

/** The page that is being rendered; `undefined` outside a render. */
export function currentForms(): FormTarget | undefined {
  return forms.getStore()
}

/** A request's page for its forms. Everything besides the URL is created when the first form needs it. */
export function formTarget(context: RequestContext): FormTarget {
  return new RequestForms(context)
}

class RequestForms implements FormTarget {
  readonly pathname: string
  namesQuery = false
  isStreamed = false
  readonly stateForms: StateForm[] = []
  readonly #context: RequestContext
  #callKey: string | undefined = undefined

  constructor(context: RequestContext) {
    this.pathname = context.pathname
    this.#context = context
  }

  get search(): string {
    this.namesQuery = true
    // At once: a render that stops here depends on the query, too.
    this.#context.making?.uses.useAll()
    return this.#context.search
  }

  get adopt(): FormTarget['adopt'] {
    return this.#context.services.adoptAction
  }

  get callKey(): string | undefined {
    if (this.#context.making !== undefined) return undefined
    const isShared = !this.isStreamed && documentCaching(this.#context, 200).shared
    return isShared ? undefined : (this.#callKey ??= randomUUID())
  }

  get hasCallKey(): boolean {
    return this.#callKey !== undefined
  }

  sign(id: string, text: string): string {
    return this.#context.services.secrets.sign(argumentsPurpose(id), text)
  }
}
