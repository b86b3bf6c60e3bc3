/**
 * What an application's sources may import that is no code, and the variables that browser code may read. For `types` of
 * its tsconfig.json: `["millrace/types"]`.
 */
declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>
  export default classes
}

declare module '*.css' {}

declare module '*.module.scss' {
  const classes: Readonly<Record<string, string>>
  export default classes
}

declare module '*.scss' {}

declare module '*.module.sass' {
  const classes: Readonly<Record<string, string>>
  export default classes
}

declare module '*.sass' {}

declare module '*.module.less' {
  const classes: Readonly<Record<string, string>>
  export default classes
}

declare module '*.less' {}

declare module '*.module.styl' {
  const classes: Readonly<Record<string, string>>
  export default classes
}

declare module '*.styl' {}

declare module '*.module.pcss' {
  const classes: Readonly<Record<string, string>>
  export default classes
}

declare module '*.pcss' {}

declare module '*.svg' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.png' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.apng' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.jpg' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.jpeg' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.gif' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.webp' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.avif' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.bmp' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.ico' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.cur' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.woff' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.woff2' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.ttf' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.otf' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.eot' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.mp3' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.m4a' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.ogg' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.wav' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.flac' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.mp4' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.webm' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.ogv' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.mov' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.vtt' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.pdf' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.wasm' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.SVG' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.PNG' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.JPG' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.JPEG' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.GIF' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.WEBP' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.PDF' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.MP3' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.MP4' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare namespace NodeJS {
  interface ProcessEnv {
    /** Built into the browser's scripts and the server alike; `undefined` where it was not set at the build. */
    readonly [name: `PUBLIC_${string}`]: string | undefined
  }

  interface Process {
    env: ProcessEnv
  }
}

// As `@types/node` declares it.
// oxlint-disable-next-line no-var
declare var process: NodeJS.Process
