const root = import.meta.dirname

/** Nothing that the others do not do: no compression, no header of its own. The project around it is none of its. */
export default { compress: false, poweredByHeader: false, outputFileTracingRoot: root, turbopack: { root } }
