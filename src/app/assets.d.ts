/** What the build makes of imports that are no code. */
declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>
  export default classes
}

declare module '*.css' {}

declare module '*.svg' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}
