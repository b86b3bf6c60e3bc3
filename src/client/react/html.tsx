import {
  useCallback,
  useContext,
  useMemo,
  type HTMLAttributes,
  type ReactNode,
  type Ref,
  type SubmitEvent,
} from 'react'
import { HtmlValue } from '../../shared/html-value.ts'
import { HTML_MARK } from '../../shared/protocol/hydration-data.ts'
import { RouterContext } from './contexts.ts'
import { followForm } from './form.tsx'
import { ServerDocumentContext } from './server-document.ts'

/** Elements that `Html` can be. */
export type HtmlElementName =
  | 'div' | 'article' | 'section' | 'main' | 'aside' | 'header' | 'footer' | 'nav' | 'figure' | 'figcaption'
  | 'blockquote' | 'details' | 'summary' | 'ul' | 'ol' | 'li' | 'dl' | 'dt' | 'dd' | 'td' | 'th' | 'p' | 'span'
  | 'h1' | 'h2' | 'h3' | 'h4' | 'h5' | 'h6' | 'pre' | 'code' | 'em' | 'strong' | 'small' | 'label' // prettier-ignore

/** Props of `Html`: those of an element, without children. */
export interface HtmlProps extends Omit<HTMLAttributes<HTMLElementLike>, 'children' | 'dangerouslySetInnerHTML'> {
  /** Shown as it is. */
  readonly value: HtmlValue
  /** The element around it. Default: `div`. */
  readonly as?: HtmlElementName | undefined
  readonly ref?: Ref<HTMLElementLike> | undefined
}

// The server's program has no DOM types, and needs none of an element's.
type HTMLElementLike = typeof globalThis extends { HTMLElement: { prototype: infer Element } } ? Element : object

/**
 * An element with HTML that the server vouches for. In a document the text is in the markup alone, and the browser keeps
 * what it has parsed; after a click it comes with the data of the page. The client router follows links in it, and forms with
 * the method GET. Data that is loaded again with the same text changes nothing on the screen.
 * @throws {TypeError} for a value that is not from `html()`.
 * @example
 * ```tsx
 * import { Html, html } from 'millrace'
 *
 * export const about = <Html value={html('<p>About the <b>mill</b></p>')} as="article" className="prose" />
 * ```
 */
export function Html(props: HtmlProps): ReactNode {
  const { value, as: Tag = 'div', onSubmit, ref, ...rest } = props
  if (!(value instanceof HtmlValue)) throw new TypeError('The value of <Html> is not from html(text)')
  const server = useContext(ServerDocumentContext)
  const router = useContext(RouterContext)
  // React writes the HTML again for another object, and what has changed in it would be lost.
  const { mark, markup, isLate } = useMemo(
    () => {
      // What came in the document has been freed there.
      const late = server === null && value.mark === undefined && NAMES.test(value.text)
      return {
        mark: server === null ? value.mark : server.htmlMark(value, Tag),
        markup: { __html: trusted(late ? '' : value.text) },
        isLate: late,
      }
    },
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- values with equal text are equal
    [value.hash],
  )
  const attach = useCallback(
    (element: HTMLElementLike | null) => {
      if (isLate && element) fill(element as Element, value.text)
      if (typeof ref === 'function') return ref(element)
      if (ref) ref.current = element
      return undefined
    },
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- as above
    [value.hash, ref],
  )

  function follow(event: SubmitEvent<HTMLElementLike>): void {
    onSubmit?.(event)
    followForm(event.target as HTMLFormElement, event, router)
  }

  return (
    <Tag
      {...(rest as object)}
      {...{ [HTML_MARK]: mark ?? '' }}
      ref={attach as never}
      onSubmit={follow}
      dangerouslySetInnerHTML={markup}
      suppressHydrationWarning={isLate}
    />
  )
}

/** HTML without any of these has nothing to free. */
const NAMES = /\b(?:name|id)\s*=|data-prefetch/i

/**
 * Puts HTML into an element after `free-document.ts` has freed it: React and the router use `document` before the observer
 * there sees what has come. The browser parses it once, as React would: HTML that is written and parsed again may differ,
 * and become what no sanitizer has seen.
 */
function fill(element: Element, text: string): void {
  if (element.firstChild) return // in the document already
  const box = element.cloneNode() as Element
  box.innerHTML = trusted(text)
  document.dispatchEvent(new CustomEvent('millrace:html', { detail: box }))
  element.append(...box.childNodes)
}

/** What browsers with Trusted Types have, and the types of TypeScript's library lack. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(html: string): string }): Policy
}

type Policy = Pick<{ createHTML(html: string): string }, 'createHTML'>

const trust: { policy?: Policy | undefined } = {}

/** A TrustedHTML in browsers that have those, for pages that ask for it; React passes it on unchanged. */
function trusted(text: string): string {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes }
  trust.policy ??= trustedTypes?.createPolicy('millrace', { createHTML: (html) => html })
  return trust.policy?.createHTML(text) ?? text
}
