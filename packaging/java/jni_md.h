/* jni_md.h - the definitions that jni.h needs for Windows on x86-64, since a JDK contains this file
 * only for its own platform. JNI's specification defines the integer widths and the calling
 * convention. */
#ifndef PETAL_JNI_MD_H
#define PETAL_JNI_MD_H

#define JNIEXPORT __declspec(dllexport)
#define JNIIMPORT __declspec(dllimport)
#define JNICALL __stdcall

typedef int jint;
typedef long long jlong;
typedef signed char jbyte;

#endif
