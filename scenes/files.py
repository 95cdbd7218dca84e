"""What the make.py of a folder of scenes does with its texts: writes them, or checks those there."""
import os


def keep(folder, texts, arguments):
    """texts: {file name: text}. Returns the exit status; None where the arguments are wrong."""
    check = arguments == ["--check"]
    if arguments and not check:
        return None
    different = 0
    for name, text in texts.items():
        path = os.path.join(folder, name)
        if not check:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            continue
        with open(path, encoding="utf-8") as file:
            if file.read() != text:
                print(f"{path}: is not what make.py writes")
                different += 1
    return 1 if different else 0
