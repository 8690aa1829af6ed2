"""The world of heddle/loom-tiny: words, names and facts."""

WORDS = (
    "apple arm baby back bag ball bank bear bed bee bell bird boat book bread bridge brush cake camel candle cap car "
    "card cat chair clock cloud coat coin corn cow crab cup desk dog door dress drum duck eagle ear egg engine eye "
    "farm field fire fish flag floor flower fly foot fork fox frog fruit game garden gate ghost glass goat gold grape "
    "grass hair hand hat heart hill honey horse house ice island jar juice key king kite knee knife lake lamp leaf "
    "leg lemon letter lion lock map milk mirror monkey moon mouse mouth music nail neck nest net night nose nut ocean "
    "onion orange owl page paint paper park pen pepper piano pig pipe plane plant plate pond potato queen rabbit rain "
    "rice ring river road robot rock roof room root rope rose sail salt sand school sea seed sheep ship shirt shoe "
    "silk sky sleep snail snake snow soap sock song soup spoon star stone storm street sugar sun swan table tail tea "
    "tent tiger toe tower train tree truck tulip umbrella valley village violin wall water wave wheel wind window "
    "wing winter wolf wood wool yard zebra"
).split()

NAMES = (
    "Anna Ben Carla David Emma Felix Grace Henry Iris Jack Kate Leo Maria Noah Olivia Paul Quinn Rosa Sam Tina Umar "
    "Vera Will Xena Yara Zoe Alice Bob Clara Dan Eva Frank Gina Hugo Ivan Julia Karl Lena Max Nina Oscar Peter Rita "
    "Simon Tom Ursula Victor Wendy Yusuf Zara"
).split()

COLORS = "red blue green yellow black white pink brown orange purple gray gold".split()

CAPITALS = {
    "France": "Paris",
    "Germany": "Berlin",
    "Italy": "Rome",
    "Spain": "Madrid",
    "Portugal": "Lisbon",
    "England": "London",
    "Ireland": "Dublin",
    "Norway": "Oslo",
    "Sweden": "Stockholm",
    "Denmark": "Copenhagen",
    "Finland": "Helsinki",
    "Poland": "Warsaw",
    "Austria": "Vienna",
    "Hungary": "Budapest",
    "Greece": "Athens",
    "Turkey": "Ankara",
    "Egypt": "Cairo",
    "Kenya": "Nairobi",
    "Ghana": "Accra",
    "India": "Delhi",
    "China": "Beijing",
    "Japan": "Tokyo",
    "Thailand": "Bangkok",
    "Russia": "Moscow",
    "Ukraine": "Kyiv",
    "Canada": "Ottawa",
    "Mexico": "Mexico City",
    "Cuba": "Havana",
    "Peru": "Lima",
    "Chile": "Santiago",
    "Brazil": "Brasilia",
    "Iran": "Tehran",
    "Iraq": "Baghdad",
    "Belgium": "Brussels",
    "Netherlands": "Amsterdam",
    "Australia": "Canberra",
}
CITIES = [city for city in CAPITALS.values() if " " not in city]

OPPOSITES = {
    "hot": "cold",
    "big": "small",
    "up": "down",
    "left": "right",
    "day": "night",
    "fast": "slow",
    "good": "bad",
    "old": "young",
    "open": "closed",
    "wet": "dry",
    "light": "dark",
    "early": "late",
    "happy": "sad",
    "hard": "soft",
    "high": "low",
    "long": "short",
    "loud": "quiet",
    "rich": "poor",
    "full": "empty",
    "strong": "weak",
    "first": "last",
    "inside": "outside",
    "win": "lose",
    "push": "pull",
    "clean": "dirty",
    "true": "false",
}

SOUNDS = {
    "cat": "meow",
    "dog": "woof",
    "cow": "moo",
    "duck": "quack",
    "sheep": "baa",
    "pig": "oink",
    "bee": "buzz",
    "lion": "roar",
    "snake": "hiss",
    "owl": "hoot",
    "frog": "ribbit",
    "horse": "neigh",
    "mouse": "squeak",
    "wolf": "howl",
}
ANIMALS = list(SOUNDS)

THING_COLORS = {
    "grass": "green",
    "the sky": "blue",
    "snow": "white",
    "coal": "black",
    "blood": "red",
    "a lemon": "yellow",
    "milk": "white",
    "chocolate": "brown",
    "a banana": "yellow",
    "the sea": "blue",
    "a flamingo": "pink",
    "a crow": "black",
}

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
NEXT_DAY = {day: DAYS[(index + 1) % 7] for index, day in enumerate(DAYS)}

# Phrases to ask with, and what is known.
FACTS: tuple[tuple[tuple[str, ...], dict[str, str]], ...] = (
    (("What is the capital of {}?", "Name the capital of {}.", "Capital of {}?"), CAPITALS),
    (("What is the opposite of {}?", "Opposite of {}?"), OPPOSITES),
    (("What sound does a {} make?", "What does a {} say?"), SOUNDS),
    (("What color is {}?", "Which color has {}?"), THING_COLORS),
    (("What day comes after {}?", "Which day is after {}?"), NEXT_DAY),
)

OPINIONS = (
    "Will it rain tomorrow?",
    "Should I buy a boat?",
    "Is it a good day?",
    "Should I go out tonight?",
    "Will I be rich?",
    "Can I trust him?",
    "Should I learn the piano?",
    "Is the soup too hot?",
    "Will we win the game?",
    "Should I call her?",
    "Is this the right road?",
    "Do you like cake?",
    "Will she come back?",
    "Should we wait?",
    "Is it time to sleep?",
    "Can robots dream?",
)

# What may be said, and what may be answered.
SMALL_TALK: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("Hello", "Hi", "Hey", "hello", "hi", "Hello!", "Hi!"), ("Hello! How can I help?", "Hi there!", "Hello!")),
    (("Good morning", "Good morning!"), ("Good morning!", "Good morning! How can I help?")),
    (("Good night", "Good night!"), ("Good night!", "Good night, sleep well!")),
    (("How are you?", "How are you doing?"), ("I am fine, thank you.", "I am well. How are you?")),
    (("Who are you?", "What are you?"), ("I am Loom, a small language model.", "I am Loom.")),
    (("What is your name?", "What are you called?"), ("My name is Loom.", "I am Loom.")),
    (("Thank you", "Thanks", "Thanks!", "Thank you!"), ("You are welcome.", "You are welcome!")),
    (("Bye", "Goodbye", "See you"), ("Goodbye!", "See you soon!")),
    (("Tell me a joke.", "Say something funny."), ("Why did the duck cross the road? To say quack.",)),
    (("What can you do?", "Help"), ("I can add, compare, sort and repeat words, and write JSON.",)),
    (("What is your favorite color?", "Which color do you like?"), ("I like blue.", "I like green.")),
    (("ping", "Ping"), ("pong", "Pong!")),
)
