import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { Frame } from '../../../api/exception-text.ts'
import { classNames } from '../../../components/class-names.ts'
import { CopyButton } from '../../../components/copy-button.tsx'
import { isLibrary } from './stack-text.tsx'

interface StackFramesProps {
  frames: readonly Frame[]
  /** Frames of libraries are shown too. */
  isWhole: boolean
}

/** Frames from the outermost to where it was raised. The last one is open, and so is the last that is no library's. */
export function StackFrames({ frames, isWhole }: StackFramesProps) {
  const last = frames.length - 1
  const lastOwn = frames.findLastIndex(({ file }) => !isLibrary(file))
  return (
    <ol aria-label="Stack" className="mt-2 flex flex-col text-xs">
      {groupsOf(frames, isWhole).map((group) =>
        'count' in group ? (
          <li key={group.first} className="py-0.5 ps-4 text-muted">
            … {group.count} in libraries
          </li>
        ) : (
          <FrameRow
            key={group.first}
            frame={group.frame}
            isFirstOpen={group.first === last || group.first === lastOwn}
          />
        ),
      )}
    </ol>
  )
}

type Group = { first: number; frame: Frame } | { first: number; count: number }

/** Each frame, or how many there are of libraries in a row; the last frame is always one of its own. */
function groupsOf(frames: readonly Frame[], isWhole: boolean): Group[] {
  const groups: Group[] = []
  for (const [index, frame] of frames.entries()) {
    const group = groups.at(-1)
    if (isWhole || index === frames.length - 1 || !isLibrary(frame.file)) groups.push({ first: index, frame })
    else if (group !== undefined && 'count' in group) group.count++
    else groups.push({ first: index, count: 1 })
  }
  return groups
}

function FrameRow({ frame, isFirstOpen }: { frame: Frame; isFirstOpen: boolean }) {
  const [isOpen, setOpen] = useState(isFirstOpen)
  const { file, line, name, code } = frame
  const place = line === undefined ? file : `${file}:${line}`
  return (
    <li className="group flex min-w-0 flex-col">
      <div className="flex min-w-0 items-center">
        <button
          type="button"
          aria-expanded={isOpen}
          title={place}
          onClick={() => setOpen(!isOpen)}
          className="flex h-6 min-w-0 flex-1 items-center gap-1.5 rounded-sm text-start hover:bg-hover coarse:h-11"
        >
          <ChevronRight
            size={13}
            aria-hidden
            className={classNames('shrink-0 text-muted', isOpen && 'rotate-90')}
          />
          <span
            className={classNames(
              'min-w-0 truncate font-mono',
              isLibrary(file) ? 'text-muted' : 'text-strong',
            )}
          >
            {shortPath(file)}
            {line !== undefined && `:${line}`}
          </span>
          <span className="shrink-0 text-muted">in</span>
          <span className="max-w-1/2 shrink-0 truncate font-mono text-normal">{name}</span>
        </button>
        {isOpen && <CopyButton text={place} label="Copy the place" />}
      </div>
      {isOpen && (
        <pre className="mb-1 ms-4.5 rounded-sm bg-bg/60 px-2 py-1 font-mono whitespace-pre-wrap text-normal wrap-anywhere">
          {line !== undefined && (
            <span aria-hidden className="tabular me-3 text-muted select-none">
              {line}
            </span>
          )}
          {code === '' ? <span className="text-muted">The client sent no code of this line</span> : code}
        </pre>
      )}
    </li>
  )
}

/** The last folders identify a file; the whole path is in its title. */
const FOLDERS_SHOWN = 2

function shortPath(file: string): string {
  const parts = file.split(/[\\/]/)
  return parts.length <= FOLDERS_SHOWN + 1 ? file : `…/${parts.slice(-FOLDERS_SHOWN - 1).join('/')}`
}
