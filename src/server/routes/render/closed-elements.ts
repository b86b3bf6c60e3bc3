import {
  Children,
  cloneElement,
  createElement,
  isValidElement,
  type ComponentClass,
  type ElementType,
  type FunctionComponent,
  type ReactElement,
  type ReactNode,
} from 'react'

interface Props {
  readonly children?: ReactNode | ((...values: unknown[]) => ReactNode)
  readonly dangerouslySetInnerHTML?: { readonly __html: unknown } | null
  readonly fallback?: ReactNode
}

/** What `memo`, `forwardRef` and `lazy` make; a context has none of them. */
interface Wrapped {
  readonly type?: unknown
  readonly render?: (props: object, ref: unknown) => ReactNode
  readonly _init?: (payload: unknown) => unknown
  readonly _payload?: unknown
}

/**
 * CSS-in-JS libraries put their rules into `dangerouslySetInnerHTML`, and a rule may contain a visitor's text. Markup does
 * not tell who wrote an end tag, so elements are changed before React writes them: also those that components return.
 */
export function closeRawText(node: ReactNode): ReactNode {
  return Children.map(node, (child) => (isValidElement<Props>(child) ? closeElement(child) : child))
}

function closeElement(element: ReactElement<Props>): ReactElement {
  const { key } = element
  const type = typeof element.type === 'string' ? element.type.toLowerCase() : element.type
  const { dangerouslySetInnerHTML, children, ...props } = element.props
  const { __html: html } = dangerouslySetInnerHTML ?? {}
  if (type === 'style') {
    const rules = String(html ?? textOf(children) ?? '')
    // Any end tag: in a <noscript>, browsers with scripts look for its own. CSS has `</` in texts and comments only.
    return createElement(type, { ...props, key }, rules.replaceAll('</', String.raw`<\/`))
  }
  // Of a child, React escapes what would end a script, or keep it open.
  if (type === 'script')
    return createElement(type, { ...props, key }, html === undefined ? textOf(children) : String(html))
  const closed = closeType(type)
  if (closed !== type) return createElement(closed, { ...element.props, key })
  const { fallback } = props
  return cloneElement(
    element,
    fallback === undefined ? {} : { fallback: closeRawText(fallback) },
    typeof children === 'function'
      ? (((...values: unknown[]) => closeRawText(children(...values))) as unknown as ReactNode)
      : closeRawText(children as ReactNode),
  )
}

/** One text, because React writes no list of them into a script. */
function textOf(children: Props['children']): string | undefined {
  const texts = Children.toArray(children as ReactNode)
  return texts.length === 0 ? undefined : texts.join('')
}

/** @returns the type itself if it shows only what its element contains. */
function closeType(type: unknown): ElementType<object> {
  if (typeof type === 'function') return isClass(type) ? closeClass(type) : closeFunction(type as FunctionComponent)
  if (typeof type !== 'object' || type === null) return type as ElementType<object>
  const { type: inner, render, _init, _payload } = type as Wrapped
  if (inner !== undefined) return closeType(inner)
  if (render !== undefined) return closeFunction(({ ref = null, ...props }: { ref?: unknown }) => render(props, ref))
  if (_init === undefined) return type as ElementType<object>
  // May throw a promise, which React expects of components only.
  return (props: object) => createElement(closeType(_init(_payload)), props)
}

function isClass(type: object): type is ComponentClass {
  return (
    'prototype' in type && (type.prototype as { isReactComponent?: object } | undefined)?.isReactComponent !== undefined
  )
}

function closeFunction(component: (props: object) => ReactNode | Promise<ReactNode>): FunctionComponent {
  return (props) => closeRawText(component(props) as ReactNode)
}

function closeClass(component: ComponentClass): ComponentClass {
  return class extends component {
    override render() {
      return closeRawText(super.render())
    }
  }
}
