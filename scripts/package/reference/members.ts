import type { Declaration, Declarations } from './declarations.ts'
import { readDocComment, type DocComment } from './doc-comment.ts'
import { isLeftOut } from './signature.ts'
import {
  childrenOf,
  docBefore,
  isHidden,
  isNode,
  MEMBERS,
  nameOf,
  type ParsedModule,
  type SyntaxNode,
} from './syntax.ts'

/** A member of an interface, a class or a type. */
export interface Member {
  /** With the names of the members around it: `security.limits`. */
  readonly name: string
  readonly doc: DocComment
  /** Whether it may be left out. */
  readonly optional: boolean
}

/** All members that a signature shows, in their order. */
export function membersOf({ path, nodes, only }: Declaration, declarations: Declarations): readonly Member[] {
  return nodes.flatMap((node) => collect(declarations.moduleOf(path), node, '', only))
}

function collect(
  module: ParsedModule,
  node: SyntaxNode,
  around: string,
  only?: ReadonlySet<string>,
): readonly Member[] {
  if (isHidden(module, node) || isLeftOut(node, only)) return []
  const isNamed = MEMBERS.has(node.type) && isNode(node['key']) && node['key'].type !== 'PrivateIdentifier'
  const name = isNamed ? around + nameOf(node['key']) : around
  // The comment of a member describes methods of its own type.
  const inside = isNamed && 'params' in node ? [] : childrenOf(node)
  const members = inside.flatMap((child) => collect(module, child, isNamed ? `${name}.` : around, only))
  if (!isNamed) return members
  return [{ name, doc: readDocComment(docBefore(module, node.start)), optional: node['optional'] === true }, ...members]
}
