import { useQuery } from '@tanstack/react-query'
import { Download, ImageOff } from 'lucide-react'
import { useEffect, useState } from 'react'
import { loadMedia, type Media } from '../../../api/media.ts'
import { formatBytes } from '../../../components/format.ts'
import { OutsideLink } from '../../../components/outside-link.tsx'
import { Skeleton } from '../../../components/states.tsx'

/**
 * A picture or a sound where it stands; anything else as a file. What lies on another server is a link: the pages load
 * nothing from elsewhere.
 */
export function MediaView({ project, media }: { project: string; media: Media }) {
  const { source, name } = media
  const isInside = source.kind === 'url' && source.url.startsWith('data:')
  const isElsewhere = source.kind === 'url' && !isInside
  const { data, error } = useQuery({
    queryKey: ['media', project, keyOf(media)],
    enabled: source.kind !== 'url',
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await loadMedia(project, media, { signal })) ?? null,
  })
  const made = useObjectUrl(data)
  if (isInside) return <Shown mime={media.mime} url={source.url} name={name} />
  if (isElsewhere)
    return (
      <OutsideLink href={source.url}>
        {name} at {hostOf(source.url)}
      </OutsideLink>
    )
  if (error !== null || data === null)
    return (
      <span className="inline-flex items-center gap-1.5 text-xs text-muted">
        <ImageOff size={14} aria-hidden /> {name} could not be loaded
      </span>
    )
  if (data === undefined || made === undefined) return <Skeleton className="h-32 w-48" />
  return <Shown mime={data.type} url={made} name={name} bytes={data.size} />
}

function Shown({ mime, url, name, bytes }: { mime: string; url: string; name: string; bytes?: number }) {
  if (mime.startsWith('image/'))
    return (
      <img
        src={url}
        alt={name}
        referrerPolicy="no-referrer"
        className="max-h-72 max-w-full self-start rounded-md border border-hair"
      />
    )
  if (mime.startsWith('audio/'))
    // biome-ignore lint/a11y/useMediaCaption: there are no captions in a trace
    return <audio controls src={url} aria-label={name} className="h-9 w-full max-w-md" />
  if (mime.startsWith('video/'))
    return (
      // biome-ignore lint/a11y/useMediaCaption: there are no captions in a trace
      <video controls src={url} aria-label={name} className="max-h-72 max-w-full self-start rounded-md" />
    )
  return (
    <a href={url} download={name} className="inline-flex items-center gap-1.5 text-xs text-link underline">
      <Download size={13} aria-hidden /> {mime || name} {bytes !== undefined && formatBytes(bytes)}
    </a>
  )
}

/** The address of bytes in this browser, for as long as they are shown. */
function useObjectUrl(blob: Blob | null | undefined): string | undefined {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (blob == null) return
    const made = URL.createObjectURL(blob)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [blob])
  return url
}

function keyOf({ source }: Media): string {
  return source.kind === 'file' ? source.digest : source.kind === 'ref' ? source.ref : source.url
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url
}
