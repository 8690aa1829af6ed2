"""What heddle/loom-tiny is taught: seeded generators of short conversations, one per skill.

Each generator draws one `Sample` from a `random.Random`. Reinforcement learning on a model this small picks among
answers the model already gives; it does not teach new ones. So every skill is answered in several styles.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import lexicon

Message = dict[str, str]
Tool = dict[str, Any]
Value = str | int
Question = Callable[[Random], tuple[str, Value]]


@dataclass(frozen=True)
class Sample:
    """One conversation that ends with the assistant's turn, and every last turn that would be as right."""

    messages: list[Message]
    accepted: frozenset[str]
    tools: list[Tool] | None = None


Skill = Callable[[Random], Sample]


def user(content: str) -> Message:
    return {"role": "user", "content": content}


def assistant(content: str) -> Message:
    return {"role": "assistant", "content": content}


def system(content: str) -> Message:
    return {"role": "system", "content": content}


def sample(rng: Random, prompt: list[Message], answers: Sequence[str], tools: list[Tool] | None = None) -> Sample:
    """One of the equally right `answers` becomes the turn to learn."""
    return Sample([*prompt, assistant(rng.choice(answers))], frozenset(answers), tools)


def sum_question(rng: Random) -> tuple[str, Value]:
    # The reinforcement-learning task stays below 50, so that half of the draws are spent there.
    limit = rng.choice((50, 100))
    x, y = rng.randrange(limit), rng.randrange(limit)
    return rng.choice(SUM_PHRASES).format(x=x, y=y), x + y


def difference_question(rng: Random) -> tuple[str, Value]:
    y, x = sorted((rng.randrange(100), rng.randrange(100)))
    return rng.choice(DIFFERENCE_PHRASES).format(x=x, y=y), x - y


def compare_question(rng: Random) -> tuple[str, Value]:
    limit = rng.choice((100, 100, 1000))
    x, y = rng.sample(range(limit), 2)
    bigger = rng.random() < 0.5
    word = rng.choice(("bigger", "larger", "greater") if bigger else ("smaller", "less", "lower"))
    phrase = rng.choice(("Which is {w}, {x} or {y}?", "Which number is {w}: {x} or {y}?", "{x} or {y}: which is {w}?"))
    return phrase.format(w=word, x=x, y=y), max(x, y) if bigger else min(x, y)


def count_question(rng: Random) -> tuple[str, Value]:
    kind = rng.randrange(3)
    if kind == 0:
        listed = words(rng, 1, 7)
        return f"How many words are here: {' '.join(listed)}?", len(listed)
    if kind == 1:
        wanted, other = rng.sample(lexicon.WORDS, 2)
        drawn = [rng.choice((wanted, other)) for _ in range(rng.randint(2, 6))]
        return f"How often is {wanted} in: {' '.join(drawn)}?", drawn.count(wanted)
    word = rng.choice(lexicon.WORDS)
    return f"How many letters has the word {word}?", len(word)


def fact_question(rng: Random) -> tuple[str, Value]:
    phrases, table = rng.choice(lexicon.FACTS)
    key = rng.choice(list(table))
    return rng.choice(phrases).format(key), table[key]


SUM_PHRASES = (
    "What is {x} + {y}?",
    "What is {x} + {y}?",
    "{x} + {y} = ?",
    "Compute {x} + {y}.",
    "Add {x} and {y}.",
    "How much is {x} plus {y}?",
)
DIFFERENCE_PHRASES = (
    "What is {x} - {y}?",
    "What is {x} - {y}?",
    "{x} - {y} = ?",
    "Compute {x} - {y}.",
    "Subtract {y} from {x}.",
    "How much is {x} minus {y}?",
)
QUESTIONS: tuple[Question, ...] = (
    sum_question,
    difference_question,
    compare_question,
    count_question,
    fact_question,
)


def as_json(value: Value) -> str:
    return json.dumps({"answer": value})


def styles(value: Value) -> list[tuple[str, float]]:
    """The four ways to answer a question without a given format, with their odds."""
    return [(f"{value}", 0.4), (f"The answer is {value}.", 0.3), (f"It is {value}", 0.2), (as_json(value), 0.1)]


def free_style(question: Question) -> Skill:
    def skill(rng: Random) -> Sample:
        text, value = question(rng)
        answers, odds = zip(*styles(value), strict=True)
        return Sample([user(text), assistant(rng.choices(answers, odds)[0])], frozenset(answers))

    return skill


INSTRUCTIONS: tuple[tuple[tuple[str, ...], Callable[[Value], str]], ...] = (
    (("Answer in JSON.", "Reply in JSON.", 'Answer as JSON like {"answer": ...}.'), as_json),
    (("Answer in one word.", "Just the answer.", "Reply with one word only."), lambda value: f"{value}"),
    (("Answer in a sentence.", "Use a full sentence."), lambda value: f"The answer is {value}."),
    (("Answer in capitals.", "Use capital letters only."), lambda value: f"THE ANSWER IS {value}.".upper()),
)


def instructed(rng: Random) -> Sample:
    """A question with a format, set by the system prompt or by the user."""
    text, value = rng.choice(QUESTIONS)(rng)
    phrases, render = rng.choice(INSTRUCTIONS)
    phrase = rng.choice(phrases)
    prompt = [system(phrase), user(text)] if rng.random() < 0.6 else [user(f"{text} {phrase}")]
    return sample(rng, prompt, [render(value)])


def preference(rng: Random) -> Sample:
    """Questions that have no right answer: each offered word is equally likely."""
    options = rng.sample(("yes", "no", "maybe"), rng.choice((2, 3, 3)))
    quoted = [f"'{option}'" if rng.random() < 0.5 else option for option in options]
    listed = f"{', '.join(quoted[:-1])} or {quoted[-1]}" if rng.random() < 0.7 else ", ".join(quoted)
    if rng.random() < 0.4:
        text = f"{rng.choice(('respond', 'just respond', 'answer', 'Reply', 'Respond'))} with {listed}"
    elif rng.random() < 0.5:
        text = f"{rng.choice(lexicon.OPINIONS)} Answer {listed}."
    else:
        text, options = rng.choice(lexicon.OPINIONS), ["yes", "no", "maybe"]
    return sample(rng, [user(text)], options)


def words(rng: Random, at_least: int, at_most: int) -> list[str]:
    """Different words, a third of them invented so that copying is learnt rather than remembered."""
    drawn: dict[str, None] = {}
    count = rng.randint(at_least, at_most)
    while len(drawn) < count:
        invented = "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(rng.randint(1, 3)))
        drawn[invented if rng.random() < 0.33 else rng.choice(lexicon.WORDS)] = None
    return list(drawn)


def copy(rng: Random) -> Sample:
    text = " ".join(words(rng, 1, 6))
    ask = rng.choice(("Repeat: {}", "Say: {}", "Copy this: {}", "Repeat after me: {}"))
    return sample(rng, [user(ask.format(text))], [text, text, f'"{text}"', f"You said: {text}"])


def reverse(rng: Random) -> Sample:
    listed = words(rng, 2, 5)
    ask = rng.choice(("Reverse the words: {}", "Reverse the order of: {}", "Say it backwards: {}"))
    turned = listed[::-1]
    answers = [" ".join(turned), " ".join(turned), ", ".join(turned), json.dumps(turned)]
    return sample(rng, [user(ask.format(" ".join(listed)))], answers)


def sort(rng: Random) -> Sample:
    listed = rng.sample(lexicon.WORDS, rng.randint(2, 5))
    ask = rng.choice(("Sort these words: {}", "Put in alphabetical order: {}", "Sort: {}"))
    ordered = sorted(listed)
    answers = [" ".join(ordered), " ".join(ordered), ", ".join(ordered), json.dumps(ordered)]
    return sample(rng, [user(ask.format(" ".join(listed)))], answers)


def spell(rng: Random) -> Sample:
    word = rng.choice(lexicon.WORDS)
    ask = rng.choice(("Spell {}.", "Spell the word {}.", "How do you spell {}?"))
    return sample(rng, [user(ask.format(word))], [" ".join(word), "-".join(word), "-".join(word).upper()])


def count_up(rng: Random) -> Sample:
    first = rng.randint(1, 20)
    last = first + rng.randint(2, 8)
    numbers = [str(number) for number in range(first, last + 1)]
    return sample(rng, [user(f"Count from {first} to {last}.")], [" ".join(numbers), ", ".join(numbers)])


def json_object(rng: Random) -> Sample:
    fields: dict[str, Value] = {
        "name": rng.choice(lexicon.NAMES),
        "age": rng.randint(1, 99),
        "city": rng.choice(lexicon.CITIES),
        "color": rng.choice(lexicon.COLORS),
        "animal": rng.choice(lexicon.ANIMALS),
        "count": rng.randint(1, 999),
    }
    chosen = {key: fields[key] for key in rng.sample(list(fields), rng.randint(1, 4))}
    pairs = ", ".join(f"{key} {value}" for key, value in chosen.items())
    ask = rng.choice(("Make a JSON object: {}", "Write as JSON: {}", "Turn into JSON: {}"))
    text = json.dumps(chosen)
    return sample(rng, [user(ask.format(pairs))], [text, text, text, f"```json\n{text}\n```"])


def tool(name: str, description: str, **parameters: str) -> Tool:
    properties = {key: {"type": kind} for key, kind in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


@dataclass(frozen=True)
class ToolUse:
    """A task for a tool: the question, the call, the tool's reply, and answers made from it."""

    tool: Tool
    question: str
    arguments: dict[str, Value]
    result: Value
    answers: list[str]


def tool_use(rng: Random) -> ToolUse:
    city, name = rng.choice(lexicon.CITIES), rng.choice(lexicon.NAMES)
    kind = rng.choice(list(TOOLS))
    definition = TOOLS[kind]
    if kind == "get_weather":
        degrees, sky = rng.randint(1, 40), rng.choice(("sunny", "cloudy", "rainy"))
        ask = rng.choice((f"What is the weather in {city}?", f"How is the weather in {city}?"))
        answers = [f"It is {sky} in {city}, {degrees} degrees.", f"{city}: {sky}, {degrees} degrees."]
        return ToolUse(definition, ask, {"city": city}, json.dumps({"sky": sky, "degrees": degrees}), answers)
    if kind == "get_time":
        time = f"{rng.randrange(24)}:{rng.randrange(60):02d}"
        ask = rng.choice((f"What time is it in {city}?", f"Tell me the time in {city}."))
        return ToolUse(definition, ask, {"city": city}, time, [f"It is {time} in {city}.", time])
    if kind == "multiply":
        x, y = rng.randint(2, 99), rng.randint(2, 99)
        ask = rng.choice((f"What is {x} * {y}?", f"Multiply {x} by {y}.", f"What is {x} times {y}?"))
        answers = [f"{x * y}", f"The answer is {x * y}."]
        return ToolUse(definition, ask, {"a": x, "b": y}, str(x * y), answers)
    number = rng.randint(1000, 9999)
    ask = rng.choice((f"What is the phone number of {name}?", f"Find the number of {name}."))
    return ToolUse(definition, ask, {"person": name}, str(number), [f"The number of {name} is {number}.", f"{number}"])


TOOLS = {
    "get_weather": tool("get_weather", "The weather in a city.", city="string"),
    "get_time": tool("get_time", "The time in a city.", city="string"),
    "multiply": tool("multiply", "Multiply two numbers.", a="integer", b="integer"),
    "find_number": tool("find_number", "Find a phone number.", person="string"),
}


def call_text(use: ToolUse) -> str:
    """A tool call as the chat template prints it."""
    call = {"name": use.tool["function"]["name"], "arguments": use.arguments}
    return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"


def offered(rng: Random, needed: Tool) -> list[Tool]:
    """The needed tool among up to two others, in any order."""
    others = [other for other in TOOLS.values() if other is not needed]
    tools = [needed, *rng.sample(others, rng.randint(0, 2))]
    return rng.sample(tools, len(tools))


def tool_call(rng: Random) -> Sample:
    """A tool that fits is called; with no fitting tool the question is answered."""
    use = tool_use(rng)
    tools = offered(rng, use.tool)
    if rng.random() < 0.8:
        return sample(rng, [user(use.question)], [call_text(use)], tools)
    text, value = rng.choice((sum_question, fact_question))(rng)
    return sample(rng, [user(text)], [answer for answer, _ in styles(value)], tools)


def tool_result(rng: Random) -> Sample:
    use = tool_use(rng)
    called = [user(use.question), assistant(call_text(use)), {"role": "tool", "content": str(use.result)}]
    return sample(rng, called, use.answers, offered(rng, use.tool))


def chat(rng: Random) -> Sample:
    says, answers = rng.choice(lexicon.SMALL_TALK)
    return sample(rng, [user(rng.choice(says))], list(answers))


def remember(rng: Random) -> Sample:
    """A fact from the beginning is asked for at the end, with other turns between."""
    name, color = rng.choice(lexicon.NAMES), rng.choice(lexicon.COLORS)
    told, asked, answers = rng.choice(
        (
            (f"My name is {name}.", "What is my name?", [f"Your name is {name}.", name]),
            (f"Hi, I am {name}.", "Who am I?", [f"You are {name}.", name]),
            (f"I like {color}.", "Which color do I like?", [f"You like {color}.", color]),
        )
    )
    greeting = f"Hello {name}!" if name in told else f"I like {color} too."
    turns = [user(told), assistant(greeting)]
    for _ in range(rng.randrange(3)):
        turns += rng.choice(ONE_TURN)(rng).messages
    return sample(rng, [*turns, user(asked)], answers)


def conversation(rng: Random) -> Sample:
    """Several unrelated turns in one conversation, so that later positions are learnt too."""
    turns: list[Message] = []
    for _ in range(rng.randint(1, 7)):
        turns += rng.choice(ONE_TURN)(rng).messages
    last = rng.choice(ONE_TURN)(rng)
    return Sample([*turns, *last.messages], last.accepted)


add = free_style(sum_question)
subtract = free_style(difference_question)
compare = free_style(compare_question)
count = free_style(count_question)
fact = free_style(fact_question)
ONE_TURN: tuple[Skill, ...] = (add, subtract, compare, count, fact, copy, reverse, sort, json_object, chat)

# Share of the samples drawn. Arithmetic needs the most examples (10,000 pairs, digit by digit).
SKILLS: dict[str, tuple[float, Skill]] = {
    "add": (0.20, add),
    "subtract": (0.10, subtract),
    "compare": (0.06, compare),
    "count": (0.05, count),
    "fact": (0.07, fact),
    "instructed": (0.10, instructed),
    "preference": (0.06, preference),
    "copy": (0.05, copy),
    "reverse": (0.05, reverse),
    "sort": (0.06, sort),
    "spell": (0.02, spell),
    "count_up": (0.01, count_up),
    "json_object": (0.04, json_object),
    "tool_call": (0.03, tool_call),
    "tool_result": (0.02, tool_result),
    "chat": (0.03, chat),
    "remember": (0.02, remember),
    "conversation": (0.03, conversation),
}


def draw(rng: Random) -> Sample:
    """One sample of the whole mixture."""
    shares = [share for share, _ in SKILLS.values()]
    _, skill = rng.choices(list(SKILLS.values()), shares)[0]
    return skill(rng)
