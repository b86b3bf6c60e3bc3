import { BodyError, overLimit } from './body-error.ts'
import { MAX_FIELDS } from './body-limits.ts'
import { readFieldName, type NameStep } from './field-name.ts'

/** A form's fields as an object. */
export interface FormObject {
  /** Plain objects without a prototype, arrays without holes, and the values of the fields. */
  readonly value: Record<string, unknown>
  /**
   * The name, as written in the form, of the field at a path of `value`; if nothing was sent there, the name that such
   * a field would have. `''` for the form itself.
   */
  nameOf(path: readonly PropertyKey[]): string
}

interface Node {
  /** Of the field, or the common prefix of the names of all fields inside. */
  readonly name: string
  readonly kind: 'values' | 'object' | 'list'
  readonly values: unknown[]
  /** Members of an object by name. */
  readonly members: Map<string, Node>
  /** Items by the index in their names; indexes may have gaps. */
  readonly items: Map<number, Node>
  /** The items sorted by index, once all fields are placed. Sorting again for each fault would cost quadratic time. */
  order: readonly Node[] | undefined
  /** Whether one value still makes an array, because the name ends in `[]`. */
  appends: boolean
}

/**
 * Nests fields by their names: `a`, `a.b`, `a[0].b`, `tags[]`. A repeated name, or one that ends in `[]`, gives an
 * array. Gaps between indexes are closed, because removing a row in the browser leaves one.
 * @throws {BodyError} 400 for names that contradict each other or are refused by `readFieldName`, 413 for too many
 * fields.
 */
export function formObject<Value>(fields: Iterable<readonly [name: string, value: Value]>): FormObject {
  const root = createNode('', 'object')
  let count = 0
  for (const [name, value] of fields) {
    count += 1
    if (count > MAX_FIELDS) throw overLimit('fields', MAX_FIELDS)
    place(root, readFieldName(name), name, value)
  }
  return { value: toObject(root), nameOf: (path) => nameAt(root, path) }
}

function createNode(name: string, kind: Node['kind']): Node {
  return { name, kind, values: [], members: new Map(), items: new Map(), order: undefined, appends: false }
}

function place(root: Node, steps: readonly NameStep[], name: string, value: unknown): void {
  let node = root
  for (const [position, step] of steps.entries()) {
    if (step.kind === 'append') {
      node.appends = true
      break
    }
    const next = steps[position + 1]
    const kind = next === undefined || next.kind === 'append' ? 'values' : next.kind === 'member' ? 'object' : 'list'
    const prefix = next === undefined ? name : prefixOf(node, step)
    node =
      step.kind === 'member' ? child(node.members, step.key, prefix, kind) : child(node.items, step.index, prefix, kind)
    if (node.kind !== kind) throw new BodyError(400, 'Names of fields that contradict each other')
  }
  node.values.push(value)
}

function prefixOf(parent: Node, step: Exclude<NameStep, { kind: 'append' }>): string {
  if (step.kind === 'index') return `${parent.name}[${step.index}]`
  return parent.name === '' ? step.key : `${parent.name}.${step.key}`
}

function child<Key>(nodes: Map<Key, Node>, key: Key, name: string, kind: Node['kind']): Node {
  const known = nodes.get(key)
  if (known !== undefined) return known
  const node = createNode(name, kind)
  nodes.set(key, node)
  return node
}

/** Recursive; the limit on the steps of a name bounds the depth. */
function toObject(node: Node): Record<string, unknown> {
  const object = Object.create(null) as Record<string, unknown>
  for (const [key, member] of node.members) object[key] = toValue(member)
  return object
}

function toValue(node: Node): unknown {
  if (node.kind === 'object') return toObject(node)
  if (node.kind === 'list') return itemsInOrder(node).map(toValue)
  return node.appends || node.values.length > 1 ? node.values : node.values[0]
}

function itemsInOrder(node: Node): readonly Node[] {
  return (node.order ??= [...node.items].toSorted(([first], [second]) => first - second).map(([, item]) => item))
}

function nameAt(root: Node, path: readonly PropertyKey[]): string {
  let node: Node | undefined = root
  let name = ''
  for (const key of path) {
    // The values of one name are one field.
    if (node?.kind === 'values') break
    if (node?.kind === 'list') node = typeof key === 'number' ? itemsInOrder(node)[key] : undefined
    else node = node?.members.get(String(key))
    name = node?.name ?? (typeof key === 'number' ? `${name}[${key}]` : joinNames(name, String(key)))
  }
  return node?.kind === 'values' && node.appends ? `${node.name}[]` : name
}

function joinNames(name: string, key: string): string {
  return name === '' ? key : `${name}.${key}`
}
