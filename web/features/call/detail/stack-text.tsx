/** Frames of installed libraries, which are seldom where the mistake is. */
const LIBRARY =
  /site-packages|dist-packages|[\\/]lib[\\/]python\d|[\\/]Python\d+[\\/]Lib[\\/]|node_modules|node:internal|<frozen /i
const FRAME = /^\s*(File "|at )/

/** Whether a path, or a line that names one, belongs to an installed library. */
export function isLibrary(path: string): boolean {
  return LIBRARY.test(path)
}

interface Lines {
  lines: string[]
  isLibrary: boolean
}

/** A stack that came as text. */
export function StackText({ stack, isWhole }: { stack: string; isWhole: boolean }) {
  return (
    <div className="mt-2 font-mono text-xs text-normal">
      {groupsOf(stack).map((group, index) =>
        group.isLibrary && !isWhole ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: a group is its place
          <p key={index} className="text-muted">
            … {group.lines.filter((each) => FRAME.test(each)).length} in libraries
          </p>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: a group is its place
          <pre key={index} className="whitespace-pre-wrap wrap-anywhere">
            {group.lines.join('\n')}
          </pre>
        ),
      )}
    </div>
  )
}

/** Lines in groups of frames that are, or are not, of libraries; a frame takes the lines below it. */
function groupsOf(stack: string): Lines[] {
  const groups: Lines[] = []
  for (const line of stack.split('\n')) {
    const last = groups.at(-1)
    const ofLibrary = FRAME.test(line) ? isLibrary(line) : (last?.isLibrary ?? false)
    if (last?.isLibrary === ofLibrary) last.lines.push(line)
    else groups.push({ lines: [line], isLibrary: ofLibrary })
  }
  return groups
}
