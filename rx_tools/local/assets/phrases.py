"""The written phrases from which the built-in chats are put together."""

EXPLAIN = (
    "Explain {name} in two sentences.",
    "Tell me about this: {name}.",
    "What should everybody know about the word {name}?",
    "Describe {name} to a child, please.",
    "I have never heard of {name}. Can you help?",
    "Write two plain sentences on the subject of {name}.",
)
MEANING = (
    "What does the word {name} mean?",
    "Give me a short definition of {name}.",
    "Define {name}.",
    "How would a dictionary put it: {name}?",
)
REASON = (
    "Tell me one fact about {name}.",
    "What is worth knowing about {name}?",
    "Name something curious about {name}.",
    "Why do people find {name} interesting?",
)
CARE = (
    "Do you have a tip about {name}?",
    "What is good advice when it comes to {name}?",
    "One practical hint for {name}, please.",
    "What should I remember about {name}?",
)
CLASSIFY = (
    "Which fits {name} better: {first} or {second}?",
    "Sort {name} into one of these: {first}, {second}.",
    "Is the word {name} about {first} or about {second}?",
)
COMPARE = (
    "What is the difference between {name} and {other}?",
    "Compare {name} with {other}.",
    "Put {name} beside {other}: how do they differ?",
)
LIST = (
    "List {number} words of the kind {kind}, such as {name}.",
    "Give me {number} examples of the kind {kind}.",
    "I need {number} names for the heading {kind}.",
)
ALPHABET = (
    "Put these words in alphabetical order: {names}",
    "Sort from A to Z: {names}",
    "Order these words as a dictionary would: {names}",
)
PRICE = (
    "One {name} costs {price} coins on a toy market. What do {number} of them cost?",
    "In our game a card with {name} is worth {price} coins. What are {number} cards worth?",
    "A picture of {name} costs {price} coins. How much are {number} pictures?",
)
NOTE = (
    "Write a short note to {reader} about the {name} for {day}.",
    "Remind {reader} of the {name} on {day}, in a friendly note.",
    "Draft a note: {reader}, {day}, {name}.",
)
QUIZ = (
    "True or false: {name} is {said}.",
    "Check this claim: {name} is {said}.",
    "A friend says that {name} is {said}. Is that right?",
)
SHORTER = (
    "Say this in fewer words: {text}",
    "Make this shorter: {text}",
    "Keep only the advice: {text}",
)
GUIDE = (
    "Write a small guide with {number} entries of the kind {kind}.",
    "I am making a leaflet about the kind {kind}. Please write {number} entries.",
)
SYSTEMS = (
    "You answer in plain words.",
    "You are a patient teacher.",
    "Be brief and kind.",
    "You help in a village school.",
)
PEOPLE = ("Ada", "Bruno", "Clara", "David", "Edith", "Felix", "Greta", "Hugo", "Irma", "Jonas")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
THANKS = ("Many thanks!", "Thank you.", "See you then!", "All the best.")
UNCOUNTED = frozenset(
    (
        *("basil", "mint", "moss", "clover", "lavender", "barley", "bread", "cheese", "butter"),
        *("honey", "jam", "tea", "porridge", "rice", "wool", "linen", "leather", "glass", "iron"),
        *("copper", "clay", "paper", "wax", "cork", "sand", "frost", "thunder", "snow", "fog"),
    )
)
