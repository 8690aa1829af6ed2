"""A conversation with an agent as weave's conversation SDK records it: turns, model calls, tools, media. Prints its ids."""

import json
import struct
import zlib

import weave


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data))
            + kind
            + data
            + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0\xff\0\0")
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", pixels)
        + chunk(b"IEND", b"")
    )


def main() -> None:
    weave.init("whole/conversation")
    with weave.start_conversation(
        agent_name="clerk", conversation_id="talk-1", conversation_name="a talk"
    ):
        with weave.start_turn(
            user_message="What is in the picture?", model="house-model"
        ) as turn:
            with weave.start_llm(model="house-model", provider_name="house") as llm:
                llm.input_messages = [
                    weave.Message(role="user", content="What is in the picture?")
                ]
                llm.attach_media(content=png(), mime_type="image/png")
                llm.output("I must look.")
                llm.usage = weave.Usage(input_tokens=12, output_tokens=3)
            with weave.start_tool(
                name="look", arguments='{"at": "picture"}', tool_call_id="c1"
            ) as tool:
                tool.result = '{"colour": "red"}'
            with (
                turn.start_subagent(name="painter", model="small-model") as painter,
                painter.start_llm(model="small-model") as painted,
            ):
                painted.output("red it is")
        try:
            with weave.start_turn(user_message="And now?"):
                raise RuntimeError("the clerk left")
        except RuntimeError:
            pass
    logged = weave.log_turn(
        conversation_id="talk-2",
        agent_name="clerk",
        messages=[weave.Message(role="user", content="Hello")],
        output_messages=[weave.Message(role="assistant", content="Good day")],
    )
    weave.finish()
    print(json.dumps({"logged": logged.conversation_id}))


main()
