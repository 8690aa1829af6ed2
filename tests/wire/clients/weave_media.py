"""Images, sounds, documents and other contents through weave, compared byte by byte where they came back."""

import datetime
import io
import json
import tempfile
import wave
from pathlib import Path
from typing import Any

import weave
from PIL import Image
from weave.trace.weave_client import WeaveClient

HTML = "<h1>naïve 名前</h1>" + "<p>paragraph</p>" * 500


@weave.op
def look(image: Image.Image) -> Image.Image:
    return image.rotate(90)


@weave.op
def listen(sound: wave.Wave_read, clip: weave.Audio) -> weave.Audio:
    return clip


@weave.op
def read(document: weave.Content, note: weave.Markdown) -> dict[str, Any]:
    page = weave.Content.from_text(HTML, extension="html", metadata={"page": 1})
    return {
        "page": page,
        "at": datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=datetime.UTC),
    }


def picture(mode: str, size: tuple[int, int]) -> Image.Image:
    image = Image.new(mode, size)
    image.putdata(
        [(x * 7 % 256, x * 13 % 256, x % 256) for x in range(size[0] * size[1])]
    )
    return image


def tone() -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", "not compressed"))
        sound.writeframes(bytes(range(256)) * 40)
    return buffer.getvalue()


def images(client: WeaveClient) -> dict[str, Any]:
    shown = picture("RGB", (300, 200))
    _, call = look.call(shown)
    client.flush()
    found = client.get_call(call.id)
    published = weave.publish(shown, "picture")
    rows = [{"n": n, "image": picture("RGB", (8, 8 + n))} for n in range(5)]
    dataset = weave.publish(weave.Dataset(name="pictures", rows=rows)).get()
    return {
        "input": found.inputs["image"].tobytes() == shown.tobytes(),
        "output": found.output.tobytes() == shown.rotate(90).tobytes(),
        "published": weave.ref(published.uri()).get().tobytes() == shown.tobytes(),
        "rows": [row["image"].size[1] for row in dataset.rows],
    }


def sounds(client: WeaveClient) -> dict[str, Any]:
    data = tone()
    with wave.open(io.BytesIO(data)) as sound:
        _, call = listen.call(sound, weave.Audio(data, "wav"))
        client.flush()
    found = client.get_call(call.id)
    sound = found.inputs["sound"]
    return {
        "wave": [
            sound.getframerate(),
            sound.readframes(sound.getnframes()) == bytes(range(256)) * 40,
        ],
        "audio": [
            found.inputs["clip"].format,
            found.inputs["clip"].data == data,
            found.output.data == data,
        ],
    }


def contents(client: WeaveClient) -> dict[str, Any]:
    large = bytes(range(256)) * 20_000
    document = weave.Content.from_bytes(
        large, mimetype="application/pdf", metadata={"pages": 3}
    )
    _, call = read.call(document, weave.Markdown("# Title\n\n`code`"))
    client.flush()
    found = client.get_call(call.id)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "notes.txt")
        path.write_text("kept as a file")
        kept = weave.publish(weave.Content.from_path(path), "notes").get()
        copy = Path(folder, "copy.txt")
        kept.save(copy)
        copied = copy.read_text()
        video = weave.Content.from_bytes(
            b"\0\0\0\x18ftypmp42" + bytes(5000), extension="mp4"
        )
        clip = weave.publish(video, "clip").get()
    page = found.output["page"]
    back = found.inputs["document"]
    return {
        "document": [back.data == large, back.mimetype, back.metadata],
        "html": [page.as_string() == HTML, page.mimetype, page.metadata],
        "markdown": found.inputs["note"].markup,
        "time": found.output["at"].isoformat(),
        "file": copied,
        "video": [clip.data == video.data, clip.mimetype],
    }


def at_once() -> int:
    """Wire: publishing does not wait for the files, so reading at once may come before their upload."""
    right = 0
    for n in range(20):
        data = f"content {n}".encode() * 50
        published = weave.publish(
            weave.Content.from_bytes(data, mimetype="text/plain"), f"text-{n}"
        )
        right += published.get().data == data
    return right


def main() -> None:
    client = weave.init("whole/media")
    seen = {
        "images": images(client),
        "sounds": sounds(client),
        "contents": contents(client),
        "at_once": at_once(),
    }
    weave.finish()
    print(json.dumps(seen))


main()
